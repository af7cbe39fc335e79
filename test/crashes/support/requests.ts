// Two services that ask and answer, each in its own database: `till` asks, `sums` adds.
import { z } from 'zod';
import {
  createWhizbang,
  defineCommand,
  postgresTransport,
  receptor,
  type Whizbang,
  type WhizbangOptions,
} from '../../../src/index.js';
import { silentLogger } from '../../../src/logger.js';
import type { Accident } from './accident.js';
import { shortLeases } from './shop.js';

/** What a process of these tests is told to be. */
export interface RequestsPlan {
  readonly role: 'till' | 'sums';
  /** Its own database, and the other one's. */
  readonly connectionString: string;
  readonly other: string;
  readonly name: string;
  /** The numbers that it asks for. */
  readonly asks?: readonly number[];
  readonly accident?: Accident;
}

export const Double = defineCommand('Double', {
  schema: z.object({ n: z.number() }),
  to: 'sums',
  result: z.object({ twice: z.number() }),
});

/** Without any constraint that could hide a second row. */
export const tables = `
  create table doubled (n int, instance text);
  create table answers (n int, twice int, asker text)`;

export function createTill(
  { connectionString, other }: Pick<RequestsPlan, 'connectionString' | 'other'>,
  options: Partial<WhizbangOptions> = {},
): Whizbang {
  const transport = postgresTransport({ databases: { sums: { connectionString: other } } });
  const own = { service: 'till', connectionString, transport, logger: silentLogger };
  return createWhizbang({ ...shortLeases, ...own, ...options } as WhizbangOptions);
}

export function createSums(
  { connectionString, other, name }: Pick<RequestsPlan, 'connectionString' | 'other' | 'name'>,
  options: Partial<WhizbangOptions> = {},
): Whizbang {
  const doubles = receptor(Double, async ({ n }, { tx }) => {
    await tx.query('insert into doubled values ($1, $2)', [n, name]);
    return { twice: 2 * n };
  });
  const transport = postgresTransport({ databases: { till: { connectionString: other } } });
  const own = { service: 'sums', connectionString, transport, receptors: [doubles], logger: silentLogger };
  return createWhizbang({ ...shortLeases, ...own, ...options } as WhizbangOptions);
}
