import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { serverErrorOf } from '../../src/database/index.js';
import { asQueryable } from '../../src/transactions/index.js';
import { message, send, trouble } from './sending.js';
import type { Subject } from './subject.js';
import type { World } from './world.js';

export function describeSending(subject: Subject, world: World): void {
  it('a message sent in the transaction of a library is handed out after the commit, and not before', async () => {
    const [me, sent] = [world.coordinator(), message()];
    const handedOutBefore = await world.library.transaction(async (tx) => {
      await send(tx, sent);
      // A database of one session has no other one that could look.
      return subject.openDatabase ? [] : (await me.processWorkBatch()).outbox;
    });
    expect(handedOutBefore).toEqual([]);
    const { outbox: handedOut } = await me.processWorkBatch();
    expect(handedOut).toMatchObject([
      { messageId: sent.message_id, streamId: sent.stream_id, destination: 'billing', eventData: { n: 1 } },
    ]);
  });

  it('the write of the user and the message are committed together', async () => {
    const sent = message();
    await world.library.transaction(async (tx, own) => {
      await own.insertOrder(randomUUID());
      await send(tx, sent);
    });
    expect([await world.countOf('orders'), await world.outboxIds()]).toEqual([1, [sent.message_id]]);
  });

  it('nothing is sent when the user throws after sending', async () => {
    const late = new Error('changed my mind');
    const failed = world.library.transaction(async (tx, own) => {
      await own.insertOrder(randomUUID());
      await send(tx, message());
      throw late;
    });
    await expect(failed).rejects.toBe(late);
    expect([await world.countOf('orders'), await world.outboxIds()]).toEqual([0, []]);
  });

  it('messages keep the order in which they were sent, over many statements', async () => {
    const batches = [40, 1, 25].map((count) => Array.from({ length: count }, () => message()));
    await world.library.transaction(async (tx) => {
      for (const batch of batches) await send(tx, ...batch);
    });
    expect(await world.outboxIds()).toEqual(batches.flat().map(({ message_id }) => message_id));
  });

  it('an error of the insert surfaces with its SQLSTATE, and the transaction rolls back', async () => {
    const failed = world.library.transaction(async (tx, own) => {
      await own.insertOrder(randomUUID());
      await send(tx, { ...message(), message_id: 'no uuid' });
    });
    const error = await failed.catch((reason: unknown) => reason);
    expect(serverErrorOf(error)).toMatchObject({ code: '22P02', message: expect.stringMatching(/uuid/) });
    expect([await world.countOf('orders'), await world.outboxIds()]).toEqual([0, []]);
  });

  const itNested = subject.nested === false ? undefined : it;
  itNested?.('messages sent in a nested transaction are rolled back or committed with it', async () => {
    const [kept, dropped, after] = [message(), message(), message()];
    await world.library.transaction(async (tx, { nested }) => {
      await send(tx, kept);
      const inner = nested?.(async (innerTx) => {
        await send(innerTx, dropped);
        throw new Error('only the inner one');
      });
      await expect(inner).rejects.toThrow('only the inner one');
      await nested?.((innerTx) => send(innerTx, after));
    });
    expect(await world.outboxIds()).toEqual([kept.message_id, after.message_id]);
  });

  it('transactions of a library at the same time do not mix', async () => {
    const all = Array.from({ length: 12 }, (_, i) => ({
      commits: i % 3 !== 0,
      messages: [message(), message()],
    }));
    const running = all.map(({ commits, messages }) =>
      world.library.transaction(async (tx, own) => {
        for (const each of messages) {
          await send(tx, each);
          await own.insertOrder(randomUUID());
        }
        if (!commits) throw new Error('rolled back');
      }),
    );
    const outcomes = await Promise.allSettled(running);
    expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual(all.map(({ commits }) => commits));
    const committed = all.filter(({ commits }) => commits).flatMap(({ messages }) => messages);
    expect((await world.outboxIds()).sort()).toEqual(committed.map(({ message_id }) => message_id).sort());
    expect(await world.countOf('orders')).toBe(committed.length);
  });

  it('sending works at the isolation level serializable', async () => {
    const sent = message();
    const level = await world.library.transaction(
      async (tx) => {
        await send(tx, sent);
        return asQueryable(tx).query("select current_setting('transaction_isolation') as level");
      },
      { serializable: true },
    );
    expect(level.rows).toEqual([{ level: 'serializable' }]);
    expect(await world.outboxIds()).toEqual([sent.message_id]);
  });

  it('sending leaves no prepared statement, which pgbouncer could not follow', async () => {
    const { rows } = await world.library.transaction(async (tx) => {
      await send(tx, message());
      await send(tx, message());
      return asQueryable(tx).query(
        "select name from pg_prepared_statements where statement like '%wh_outbox%'",
      );
    });
    expect(rows).toEqual([]);
  });

  it('text that looks like a placeholder, an escape or a quote arrives byte for byte', async () => {
    const sent = message({ event_data: trouble });
    const { rows } = await world.library.transaction(async (tx) => {
      await send(tx, sent);
      return asQueryable(tx).query(
        `select $2::text as second, $1::text as first, $2::text as again, $3::text as nothing,
                'costs $1, ? :name ?? $$' as in_literal, '1' as "as $1 ?"`,
        [trouble.text, 'two', null],
      );
    });
    expect(rows).toEqual([
      {
        second: 'two',
        first: trouble.text,
        again: 'two',
        nothing: null,
        in_literal: 'costs $1, ? :name ?? $$',
        'as $1 ?': '1',
      },
    ]);
    expect(await world.outbox()).toEqual([{ message_id: sent.message_id, event_data: trouble }]);
  });
}
