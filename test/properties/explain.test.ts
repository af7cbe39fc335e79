// Explain and the claim agree: for each living instance, explain says that it could take a message exactly when a call with its parameters takes it.
// EXPLAIN_STATES sets how many states are tried, SEED where they begin: a state that differs is tried again by its seed alone.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createTestDatabase } from '../support/database.js';
import { explainStateOf } from './support/explain-states.js';

const count = Number(process.env.EXPLAIN_STATES ?? 1_000);
const first = Number(process.env.SEED ?? 20261117);
const sessions = 3;

it(`explain says claimable exactly when a call takes it, in ${count} states`, {
  timeout: 600_000,
}, async () => {
  await using db = await createTestDatabase();
  await db.pool.query(readFileSync(new URL('support/explain-state.sql', import.meta.url), 'utf8'));
  const codes = new Map<string, number>();
  const differing: unknown[] = [];
  let next = first;
  await Promise.all(
    Array.from({ length: sessions }, async () => {
      const client = await db.connect();
      while (next < first + count && differing.length < 8) {
        const seed = next++;
        await client.query('begin');
        const { rows } = await client.query('select check_state($1) as result', [
          JSON.stringify(explainStateOf(seed)),
        ]);
        await client.query('rollback');
        const { differences, codes: found } = rows[0].result as { differences: object[]; codes: string[] };
        for (const code of found) codes.set(code, (codes.get(code) ?? 0) + 1);
        if (differences.length > 0) differing.push({ seed, differences });
      }
    }),
  );
  expect(differing).toEqual([]);
  if (process.env.EXPLAIN_CODES) console.log(Object.fromEntries(codes));
});
