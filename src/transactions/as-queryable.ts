import type { Queryable } from '../database/index.js';
import { type Candidate, candidateOf, type Recognize } from './candidate.js';
import { drizzle } from './drizzle.js';
import { knex } from './knex.js';
import { kysely } from './kysely.js';
import { mikroOrm } from './mikro-orm.js';
import { pg } from './pg.js';
import { pglite } from './pglite.js';
import { postgresJs } from './postgres-js.js';
import { prisma } from './prisma.js';
import { unknownTransaction } from './refusal.js';
import { sequelize } from './sequelize.js';
import { typeOrm } from './typeorm.js';

/**
 * The most specific shapes come first. Many libraries also have a `query`, which alone does not identify one,
 * so pg is the last.
 */
const families: readonly Recognize[] = [
  kysely,
  knex,
  postgresJs,
  prisma,
  mikroOrm,
  typeOrm,
  sequelize,
  drizzle,
  pglite,
  pg,
];

/**
 * Wraps a transaction of a supported library. The statements given to it must use `$1…` with text values or
 * null, and return columns of type text under snake_case names: every library passes these unchanged.
 */
export function asQueryable(tx: unknown): Queryable {
  const candidate = candidateOf(tx);
  const found = candidate && firstOf(candidate);
  if (found === undefined) throw unknownTransaction(tx);
  return found;
}

function firstOf(candidate: Candidate): Queryable | undefined {
  for (const recognize of families) {
    const found = recognize(candidate);
    if (found !== undefined) return found;
  }
  return undefined;
}
