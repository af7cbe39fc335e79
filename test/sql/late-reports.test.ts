// A report that comes late changes nothing: not what it completes, not what was sent with it, and not the count of attempts.
import { describe, expect } from 'vitest';
import { noRoom, takeover } from '../races/transactions.js';
import { expireLeases, ids, inbox, it, lanes, message, outbox, Status } from '../support/work.js';

const handled = Status.ReceptorProcessed | Status.PerspectiveProcessed;

describe('Messages that a handler sends with its report', () => {
  const sends = (item: { message_id: string }, ...sent: { message_id: string }[]) =>
    outbox.stores(...sent.map((each) => ({ ...message(), ...each, only_with: item.message_id })));

  it.for([
    ['a completion', (item: { message_id: string }) => inbox.completes([item], handled)],
    ['a renewal', (item: { message_id: string }) => inbox.renews([item])],
    ['a failure', (item: { message_id: string }) => inbox.fails([item])],
  ] as const)(
    'a message sent with %s is stored when the report is accepted',
    async ([, report], { db, a }) => {
      const [item] = await a.call(inbox.stores(message()));
      if (item === undefined) throw new Error('an item');
      const sent = message();
      expect(await a.call(report(item), sends(item, sent), noRoom)).toEqual([]);
      expect(ids(await outbox.rows(db))).toEqual(ids([sent]));
    },
  );

  it.for([
    ['a completion', (item: { message_id: string }) => inbox.completes([item], handled)],
    ['a renewal', (item: { message_id: string }) => inbox.renews([item])],
    ['a failure', (item: { message_id: string }) => inbox.fails([item])],
  ] as const)(
    'a message sent with %s is not stored when another instance has taken over',
    async ([, report], { db, a, b }) => {
      const [item] = await a.call(inbox.stores(message()));
      if (item === undefined) throw new Error('an item');
      await expireLeases(db, a);
      await b.call(takeover);
      const [sent, other] = [message(), message()];
      const lost = await a.call(report(item), sends(item, sent), outbox.stores(other), noRoom);
      expect(ids(lost)).toEqual(ids([item]));
      expect(ids(await outbox.rows(db))).toEqual(ids([other]));
    },
  );

  it('a late completion does not record its receptor as done', async ({ db, a, b }) => {
    const [item] = await a.call(inbox.stores(message()));
    if (item === undefined) throw new Error('an item');
    await expireLeases(db, a);
    await b.call(takeover);
    const done = { event_id: item.message_id, receptor_name: 'mailer', status: Status.ReceptorProcessed };
    for (const room of [noRoom, {}]) {
      await a.call(inbox.completes([item], handled), { p_receptor_completions: [done] }, room);
      expect((await db.pool.query('select * from wh_receptor_processing')).rows).toEqual([]);
    }
    await b.call(inbox.completes([item], handled), { p_receptor_completions: [done] }, noRoom);
    expect((await db.pool.query('select receptor_name from wh_receptor_processing')).rows).toEqual([
      { receptor_name: 'mailer' },
    ]);
  });

  it('a message with only_with is refused when the call does not report on that message', async ({ a }) => {
    const [item] = await a.call(inbox.stores(message()));
    if (item === undefined) throw new Error('an item');
    const call = a.call(outbox.stores(message()), sends(item, message()), noRoom);
    await expect(call).rejects.toMatchObject({ code: 'WB001', column: 'p_new_outbox_messages.only_with' });
  });
});

describe.each(lanes)('Failures that name their attempt in the %s', (lane) => {
  const failsAt = (items: { message_id: string }[], attempt: number, more = {}) =>
    lane.fails(items, { retry_after_seconds: -1, attempt, ...more });

  it('a failure that names its attempt is counted', async ({ a }) => {
    const items = await a.call(lane.stores(message()));
    expect(await a.call(failsAt(items, 1), noRoom)).toEqual([]);
    expect((await a.call())[0]?.attempts).toBe(1);
  });

  it('a failure reported again while the next attempt is leased is counted once', async ({ db, a }) => {
    const items = await a.call(lane.stores(message()));
    await a.call(failsAt(items, 1), noRoom);
    for (let lostAnswers = 0; lostAnswers < 3; lostAnswers++) {
      const next = await a.call();
      expect(next.map(({ attempts }) => attempts)).toEqual(lostAnswers === 0 ? [1] : []);
      expect(ids(await a.call(failsAt(items, 1), noRoom))).toEqual(ids(items));
    }
    expect((await lane.rows(db))[0]?.attempts).toBe(1);
  });

  it('a late failure of an earlier attempt does not make the message a dead letter', async ({ db, a }) => {
    const items = await a.call(lane.stores(message()));
    await a.call(failsAt(items, 1), noRoom);
    await a.call();
    expect(ids(await a.call(failsAt(items, 1, { dead_letter: true }), noRoom))).toEqual(ids(items));
    expect(await lane.rows(db)).toHaveLength(1);
  });

  it.for([0, -1, 1.5, 'one'])('a failure is refused when its attempt is %s', async (attempt, { a }) => {
    const items = await a.call(lane.stores(message()));
    const call = a.call(failsAt(items, attempt as number));
    await expect(call).rejects.toMatchObject({
      code: 'WB001',
      column: `p_${lane.source}_failures[0].attempt`,
    });
  });
});
