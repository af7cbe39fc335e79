// Run as a process of its own by the crash tests: one instance with a perspective, that may have an accident at a step of
// a batch, or end at an event.
import pg from 'pg';
import { type Accident, accidentAt } from './accident.js';
import { createFollower, type Kind } from './perspectives.js';
import { longLeases, shortLeases } from './shop.js';

export interface PerspectivePlan {
  readonly connectionString: string;
  readonly kind: Kind;
  readonly accident?: Accident;
  /** The order at which it ends. */
  readonly deadly?: string;
  readonly leases?: 'short' | 'long';
}

const { connectionString, kind, accident, deadly, leases } = JSON.parse(
  process.argv[2] as string,
) as PerspectivePlan;
const pass = accidentAt(accident);

const steps = [
  { statement: /wh_take_bookmark/, before: 'taking', after: 'taken' },
  { statement: /wh_read_ahead/, before: 'reading ahead', after: 'read ahead' },
  { statement: /wh_switch_perspective/, before: 'switching', after: 'switched' },
  { statement: /insert into custom_steps/, before: 'applying', after: 'applied' },
  { statement: /wh_move_bookmark/, before: 'moving', after: 'moved' },
  { statement: /^commit$/i, before: 'committing', after: 'committed' },
];

const pool = new pg.Pool({ connectionString, max: 12 });
pool.on('connect', (client) => {
  const query = client.query.bind(client) as (text: string, values?: unknown[]) => Promise<pg.QueryResult>;
  let isOfPerspective = false;
  const watched = async (text: string, values?: unknown[]) => {
    const passed = steps.filter(
      ({ statement, before }) => statement.test(text) && (isOfPerspective || before !== 'committing'),
    );
    isOfPerspective =
      passed.some(({ before }) => before === 'moving') || (isOfPerspective && !/^commit$/i.test(text));
    for (const { before } of passed) pass(before);
    const answer = await query(text, values);
    for (const { after } of passed) pass(after);
    // What a call has leased comes with the events that wait.
    if (answer.rows?.some(({ source }) => source === 'perspective')) pass('leased');
    return answer;
  };
  client.query = watched as typeof client.query;
});

const instance = createFollower(
  { pool, ...(leases === 'long' ? longLeases : shortLeases) },
  kind,
  (orderId) => {
    if (orderId === deadly) process.exit(7);
  },
);

process.on('disconnect', () => process.kill(process.pid, 'SIGKILL')); // the test is gone
process.on('SIGTERM', () => {
  void instance
    .stop()
    .then(() => pool.end())
    .then(() => process.exit(0));
});
await instance.start();
process.send?.('started');
