// Instances that come, go, stall and speak twice at once, while others store and claim.
import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { openSession, waitUntilBlocked } from '../support/sessions.js';
import {
  type Instance,
  ids,
  instance,
  it,
  lanes,
  type NewMessage,
  outbox,
  silence,
  stream,
  streams,
} from '../support/work.js';
import { begin, impatient, noRoom, takeover } from './transactions.js';

const registered = async (db: TestDatabase) =>
  (await db.pool.query('select instance_id from wh_service_instances order by 1')).rows.map(
    ({ instance_id }) => instance_id,
  );
const goodbye = (on: { query: TestDatabase['pool']['query'] }, { id }: Instance) =>
  on.query('select deregister_instance($1)', [id]);

describe.each(lanes)('in the $source', (lane) => {
  it('deregistering an instance frees its work though another instance stores into the same stream', async ({
    db,
    a,
    b,
    c,
  }) => {
    const [first, second] = stream(2) as [NewMessage, NewMessage];
    await a.call(lane.stores(first));
    await b.call(noRoom);
    const writer = await begin(db);
    await b.over(writer.client).call(lane.stores(second));
    // The goodbye may wait for the writer, or not. It must not leave anything behind.
    const leaver = await openSession(db);
    const leaving = goodbye(leaver.client, a);
    await Promise.race([leaving, waitUntilBlocked(db, leaver.pid)]);
    await writer.query('commit');
    await leaving;
    expect(ids(await c.call(takeover))).toEqual(ids([first, second]));
  });

  it('a stale instance is removed and its work freed though another stores into the same stream', async ({
    db,
    a,
    b,
    c,
  }) => {
    const [first, second] = stream(2) as [NewMessage, NewMessage];
    await a.call(lane.stores(first));
    await b.call(noRoom);
    await silence(db, a, 700);
    const writer = await begin(db);
    await b.over(writer.client).call(lane.stores(second), { p_stale_threshold_seconds: 3600 });
    const freed = await c.over(await impatient(db)).call(takeover);
    expect(ids(freed)).toEqual(ids([first]));
    await writer.query('commit');
    expect(ids(await c.call(lane.completes(freed), takeover))).toEqual(ids([second]));
  });

  it('a claim in an open transaction survives the deregistration of another instance', async ({
    db,
    a,
    b,
  }) => {
    const [mine, theirs] = [stream(2), stream(2)];
    await a.call(lane.stores(...mine));
    await b.call(lane.releases(await b.call(lane.stores(...theirs))), noRoom);
    const claimer = await begin(db);
    expect(ids(await b.over(claimer.client).call(takeover))).toEqual(ids(theirs));
    await goodbye(await impatient(db), a);
    await claimer.query('commit');
    expect(ids(await b.call(takeover))).toEqual(ids(mine));
  });

  it('messages are handed out once and in order while instances join and leave', async ({ db }) => {
    const sent = Array.from({ length: 12 }, () => stream(5));
    const handedOut: string[] = [];
    let left = sent.flat().length;
    const storing = (async () => {
      for (let i = 0; i < 5; i++)
        await lane.insertPlain(db.pool, ...sent.map((each) => each[i] as NewMessage));
    })();
    const living = async (digit: string) => {
      const self = instance(db, digit);
      for (let life = 0; life < 30 && left > 0; life++) {
        for (let calls = 0; calls < 4; calls++) {
          const items = await self.call(takeover, lane.room(5));
          handedOut.push(...ids(items));
          left -= items.length;
          await self.call(lane.completes(items), noRoom);
        }
        await goodbye(db.pool, self);
      }
    };
    await Promise.all([storing, ...['1', '2', '3', '4'].map(living)]);
    await storing;
    const last = instance(db, '9');
    for (let calls = 0; calls < 100 && left > 0; calls++) {
      const items = await last.call(takeover);
      handedOut.push(...ids(items));
      left -= items.length;
      await last.call(lane.completes(items), noRoom);
    }
    expect([...handedOut].sort()).toEqual(ids(sent.flat()).sort());
    for (const each of sent) expect(handedOut.filter((id) => ids(each).includes(id))).toEqual(ids(each));
  });
});

it('ten calls of one instance at once register it once and all answer', async ({ db, a }) => {
  const calls = Array.from({ length: 10 }, () => a.call(outbox.stores(...streams(1))));
  expect((await Promise.all(calls)).flat()).toHaveLength(10);
  expect(await registered(db)).toEqual([a.id]);
});

it('a call does not wait for a heartbeat that another call is writing', async ({ db, a }) => {
  await a.call();
  await silence(db, a, 20);
  const first = await begin(db);
  await a.over(first.client).call();
  expect(await a.over(await impatient(db)).call()).toEqual([]);
  await first.query('commit');
});

describe('The removal of a stale instance that calls again', () => {
  it('an instance whose heartbeat is being written is not removed as stale', async ({ db, a, b }) => {
    const held = await a.call(outbox.stores(...stream(2)));
    await silence(db, a, 700);
    const waking = await begin(db);
    await a.over(waking.client).call();
    expect(await b.over(await impatient(db)).call(takeover)).toEqual([]);
    await waking.query('commit');
    expect(await registered(db)).toEqual([a.id, b.id]);
    expect(await a.call(outbox.completes(held))).toEqual([]);
  });

  it('the removal of a stale instance does not hold up its next call, which registers it again', async ({
    db,
    a,
    b,
  }) => {
    await a.call();
    await silence(db, a, 700);
    const removing = await begin(db);
    await b.over(removing.client).call();
    await a.over(await impatient(db)).call();
    await removing.query('commit');
    await a.call();
    expect(await registered(db)).toEqual([a.id, b.id]);
  });

  it('many removals of a stale instance at once free each of its streams once', async ({ db, a, b }) => {
    const held = await a.call(outbox.stores(...streams(20)));
    await silence(db, a, 700);
    const sessions = await Promise.all(Array.from({ length: 6 }, () => openSession(db)));
    const others = sessions.map(({ client }, i) => instance(db, `${i + 1}`).over(client));
    const results = await Promise.all(others.map((each) => each.call(takeover)));
    const rest = [...(await b.call(takeover)), ...(await b.call(takeover))];
    expect(ids([...results.flat(), ...rest]).sort()).toEqual(ids(held).sort());
    expect(await registered(db)).not.toContain(a.id);
  });
});
