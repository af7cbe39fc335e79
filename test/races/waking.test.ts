// The moment between the last look and the sleep: whatever commits in it is either seen by a later look or notified.
import { describe, expect } from 'vitest';
import { askWithin } from '../support/ask-within.js';
import { listen } from '../support/listener.js';
import { openSession } from '../support/sessions.js';
import { it, lanes, message } from '../support/work.js';
import { begin, noRoom } from './transactions.js';

describe.each(lanes)('Falling asleep beside a writer of the %s', (lane) => {
  it.for(['a plain insert', 'a call'])(
    'a worker cannot fall asleep while %s from before its try is open, and sees it afterwards',
    async (kind, { db, a }) => {
      await a.call(noRoom);
      const [writer, worker] = [await begin(db), await listen(db)];
      const sent = message();
      if (kind === 'a call') await a.over(writer.client).call(lane.stores(sent), noRoom);
      else await lane.insertPlain(writer, sent);
      expect(await worker.fallAsleep()).toBe('busy');
      await writer.query('commit');
      expect(await worker.heard()).toBe(0);
      expect(await worker.fallAsleep()).toBe('asleep');
      expect(await lane.rows(db)).toMatchObject([{ message_id: sent.message_id }]);
    },
  );

  it.for(['a plain insert', 'a call'])(
    'a sleeping worker is woken by %s that begins after it fell asleep',
    async (kind, { db, a }) => {
      await a.call(noRoom);
      const [writer, worker] = [await begin(db), await listen(db)];
      expect(await worker.fallAsleep()).toBe('asleep');
      if (kind === 'a call') await a.over(writer.client).call(lane.stores(message()), noRoom);
      else await lane.insertPlain(writer, message());
      expect(await worker.heard()).toBe(0);
      await writer.query('commit');
      expect(await worker.heard()).toBe(1);
    },
  );

  it('a worker can fall asleep when the writer has rolled back its insert', async ({ db }) => {
    const [writer, worker] = [await begin(db), await listen(db)];
    await writer.query('savepoint before');
    await lane.insertPlain(writer, message());
    expect(await worker.fallAsleep()).toBe('busy');
    await writer.query('rollback to savepoint before');
    expect(await worker.fallAsleep()).toBe('asleep');
  });

  it('a sleeping worker that dies leaves the watch to the next', async ({ db }) => {
    const [dying, next] = [await listen(db), await listen(db)];
    expect(await dying.fallAsleep()).toBe('asleep');
    const ended = new Promise((resolve) => dying.client.once('end', resolve));
    await db.pool.query('select pg_terminate_backend($1, 5000)', [dying.pid]);
    await ended;
    expect(await next.fallAsleep()).toBe('asleep');
  });
});

it('every worker that falls asleep beside an insert has seen it or is notified', async ({ db }) => {
  const [lane] = lanes;
  const workers = [await listen(db), await listen(db), await listen(db)];
  const { client } = await openSession(db);
  for (let round = 0; round < 50; round++) {
    const sent = message();
    const inserting = lane?.insertPlain(client, sent);
    const tries = workers.map(async (worker) => {
      while ((await worker.fallAsleep()) === 'busy');
      const seen = (await lane?.rows(db, [sent])) ?? [];
      return { worker, seen: seen.length > 0 };
    });
    const looks = await Promise.all(tries);
    await inserting;
    for (const { worker, seen } of looks) expect(seen || (await worker.heard()) === 1).toBe(true);
    for (const worker of workers) {
      await worker.heard();
      await worker.wakeUp();
    }
  }
});

describe('The watch', () => {
  it('a worker is notified of an insert while the watch is passed on, and sees it', async ({ db }) => {
    const [lane] = lanes;
    const workers = [await listen(db), await listen(db), await listen(db)];
    const { client } = await openSession(db);
    for (let round = 0; round < 50; round++) {
      for (const worker of workers) await worker.fallAsleep();
      const sent = message();
      const full = workers[round % 3];
      const passing = full?.fallAsleep(false);
      await lane?.insertPlain(client, sent);
      await passing;
      const able = workers.filter((worker) => worker !== full);
      // Who was told looks; who was not, and tries to sleep, looks after that.
      const seen = await Promise.all(
        able.map(async (worker) => {
          const told = (await worker.heard()) > 0;
          return told && ((await lane?.rows(db, [sent])) ?? []).length > 0;
        }),
      );
      expect(seen).toContain(true);
      for (const worker of workers) {
        await worker.heard();
        await worker.wakeUp();
      }
    }
  });

  it('one session at a time keeps the watch, however many pass it on and take it', async ({ db }) => {
    const workers = await Promise.all(Array.from({ length: 6 }, () => listen(db)));
    for (let round = 0; round < 30; round++) {
      const kinds = await Promise.all(workers.map((worker, i) => worker.fallAsleep((i + round) % 3 > 0)));
      expect(kinds.filter((kind) => kind === 'asleep').length).toBeLessThan(2);
      const { watch, covered } = await askWithin<{ watch: number | null; covered: number[] }>(
        db,
        'select wh_watch_session() as watch, wh_sleeping_sessions() as covered',
      );
      if (kinds.includes('asleep')) expect(watch).not.toBeNull();
      expect(covered).not.toContain(watch);
      expect(new Set(covered).size).toBe(covered.length);
      if (round % 5 === 4) for (const worker of workers) await worker.wakeUp();
    }
  });
});
