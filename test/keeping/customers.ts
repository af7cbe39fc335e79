// Events with personal data, a decider that keeps some of it, and a look at everything that is stored.
import { z } from 'zod';
import { decider, defineEvent } from '../../src/index.js';
import type { TestDatabase } from '../support/database.js';

export const email = 'ada@lovelace.example';
export const phone = '+44 20 7946 0958';

export const CustomerSignedUp = defineEvent('CustomerSignedUp', {
  schema: z.object({
    customerId: z.string(),
    email: z.email(),
    phones: z.array(z.object({ number: z.string() })).min(1),
    at: z.coerce.date(),
  }),
  stream: ({ customerId }) => customerId,
  sealed: { subject: ({ customerId }) => customerId, fields: ['email', 'phones'] },
});

const CustomerVisited = defineEvent('CustomerVisited', {
  schema: z.object({ customerId: z.string() }),
  stream: ({ customerId }) => customerId,
});

export const signedUp = (customerId = 'ada') =>
  CustomerSignedUp({ customerId, email, phones: [{ number: phone }], at: '2026-11-17T08:00:00Z' });
export const visited = (customerId = 'ada') => CustomerVisited({ customerId });

const initial: { email: string | null; visits: number } = { email: null, visits: 0 };

export const Customer = decider('Customer', { initial, snapshotEvery: 2 })
  .on(CustomerSignedUp, (state, e) => ({ ...state, email: e.email }))
  .on(CustomerVisited, (state) => ({ ...state, visits: state.visits + 1 }));

/** All rows of all tables as one text. */
export async function everythingIn({ pool }: Pick<TestDatabase, 'pool'>): Promise<string> {
  const { rows } = await pool.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  );
  const texts = await Promise.all(
    rows.map(async ({ name }) => {
      const { rows: found } = await pool.query<{ text: string }>(`select t::text as text from ${name} t`);
      return found.map(({ text }) => `${name} ${text}`).join('\n');
    }),
  );
  return texts.join('\n');
}

/** The tables in which one of the secrets can be read. */
export async function leaksIn(db: Pick<TestDatabase, 'pool'>): Promise<string[]> {
  const lines = (await everythingIn(db)).split('\n');
  const leaking = lines.filter((line) => line.includes(email) || line.includes('7946 0958'));
  return leaking.map((line) => line.split(' ')[0] as string);
}
