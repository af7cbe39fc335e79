// A worker's listening session: in: a database, a schema; out: who may sleep and what it was notified of.
// Used by the tests of waking; ends with the test. It never waits on time: notifications come in the order of commits, so whatever was
// notified before a mark of our own has arrived when the mark has.
import type pg from 'pg';
import { onTestFinished } from 'vitest';
import type { TestDatabase } from './database.js';
import { openSession } from './sessions.js';

export interface Listener {
  readonly client: pg.Client;
  readonly pid: number;
  fallAsleep(isAble?: boolean): Promise<string>;
  wakeUp(): Promise<boolean>;
  /** How many notifications for this session or for all have come since the last look. */
  heard(): Promise<number>;
}

export async function listen(db: TestDatabase, schema = 'whizbang'): Promise<Listener> {
  const { client, pid } = await openSession(db);
  onTestFinished(() => client.end());
  const ask = async (name: string, argument = '') => {
    const { rows } = await client.query(`select ${schema}.${name}(${argument}) as answer`);
    return (rows[0] as { answer: unknown }).answer;
  };
  const channel = (await ask('wh_channel')) as string;
  let count = 0;
  const marks = new Map<string, () => void>();
  client.on('notification', ({ payload = '' }) => {
    if (['', 'all', String(pid)].includes(payload)) count++;
    else marks.get(payload)?.();
  });
  await client.query(`listen ${channel}`);
  let made = 0;
  return {
    client,
    pid,
    fallAsleep: async (isAble = true) => (await ask('wh_fall_asleep', String(isAble))) as string,
    wakeUp: async () => (await ask('wh_wake_up')) as boolean,
    heard: async () => {
      const mark = `mark ${pid} ${++made}`;
      const arrived = new Promise<void>((resolve) => marks.set(mark, resolve));
      await db.pool.query('select pg_notify($1, $2)', [channel, mark]);
      await arrived;
      const heard = count;
      count = 0;
      return heard;
    },
  };
}
