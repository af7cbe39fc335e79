// What every strategy promises, whenever it sends. A strategy that cannot have a promise says why in `skips`.
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WhizbangError } from '../../src/errors.js';
import { MessageProcessingStatus as Status } from '../../src/message.js';
import {
  CallLine,
  type CreateStrategyOptions,
  createStrategy,
  type StrategyName,
  type WorkUnit,
} from '../../src/strategies/index.js';
import { openSession, waitUntilBlocked } from '../support/sessions.js';
import { numbered, openWorkbench, poison, range, stateOf, type Workbench } from './workbench.js';

export function describeStrategy(name: StrategyName, skips: { 'sends by itself'?: string } = {}): void {
  describe(`The strategy ${name}`, () => {
    let bench: Workbench;
    let errors: WhizbangError[];
    beforeEach(async () => {
      bench = await openWorkbench();
      errors = [];
    });
    afterEach(() => bench[Symbol.asyncDispose]());

    /** The interval is so long that a test sees only the flushes it makes itself. */
    const strategy = (more: Partial<CreateStrategyOptions> = {}) =>
      createStrategy(name, {
        coordinator: bench.coordinator,
        intervalMs: 60_000,
        onError: (error) => errors.push(error),
        ...more,
      } as CreateStrategyOptions);

    it('a strategy sends all that is queued in one call, in order', async () => {
      await using it = strategy();
      const queued = range(1, 50).map((n) => it.queueOutboxMessage(numbered(n)));
      await it.flush();
      await Promise.all(queued.map(({ carried }) => carried));
      expect(await bench.stored()).toEqual(range(1, 50));
      expect(bench.calls).toHaveLength(1);
    });

    it('a flush gets what it has just stored as work', async () => {
      await using it = strategy();
      const message = numbered(1);
      it.queueOutboxMessage(message);
      expect(await it.flush()).toMatchObject({ outbox: [{ messageId: message.messageId }], leaseLost: [] });
    });

    it('a flush asks for work also when nothing is queued', async () => {
      await bench.coordinator.processWorkBatch({
        newOutboxMessages: [numbered(1)],
        maxOutboxItems: 0,
        maxInboxItems: 0,
      });
      await using it = strategy();
      expect((await it.flush()).outbox).toHaveLength(1);
    });

    it('flushes at the same time get each item once', async () => {
      await using it = strategy();
      it.queue({ newOutboxMessages: range(1, 10).map((n) => numbered(n)) });
      const batches = await Promise.all([it.flush(), it.flush(), it.flush()]);
      const handedOut = batches.flatMap(({ outbox }) => outbox.map(({ messageId }) => messageId));
      expect(handedOut).toHaveLength(10);
      expect(new Set(handedOut).size).toBe(10);
    });

    it('a strategy leases nothing when nobody takes the batch', async () => {
      const it = strategy();
      it.queueOutboxMessage(numbered(1));
      await it.dispose();
      expect(await bench.stored()).toEqual([1]);
      expect(await bench.leased()).toBe(0);
    });

    it('a strategy carries reports, and names those whose lease was lost', async () => {
      await using it = strategy();
      it.queue({ newOutboxMessages: [numbered(1), numbered(2)] });
      const [done, failed] = (await it.flush()).outbox;
      const stranger = numbered(3).messageId;
      it.queueOutboxCompletion({ messageId: done?.messageId ?? '', status: Status.Published });
      it.queueOutboxFailure({ messageId: failed?.messageId ?? '', completedStatus: 0, error: 'busy' });
      it.queueOutboxCompletion({ messageId: stranger, status: Status.Published });
      expect((await it.flush()).leaseLost).toEqual([{ source: 'outbox', messageId: stranger }]);
      const { rows } = await bench.db.pool.query('select error from wh_outbox');
      expect(rows).toEqual([{ error: 'busy' }]);
    });

    it('a strategy never splits a unit, however big it is', async () => {
      await using it = strategy();
      it.queueOutboxMessage(numbered(0));
      const big = it.queue({ newOutboxMessages: range(1, 1500).map((n) => numbered(n)) });
      await it.flush();
      await big.carried;
      expect(bench.calls.map(({ newOutboxMessages }) => newOutboxMessages?.length)).toEqual([1, 1500]);
    });

    it('a failed flush loses nothing, and the next keeps the order', async () => {
      await using it = strategy();
      await bench.takeSchemaAway();
      const early = range(1, 3).map((n) => it.queueOutboxMessage(numbered(n)));
      await expect(it.flush()).rejects.toMatchObject({ code: 'NOT_MIGRATED' });
      expect(await stateOf(Promise.race(early.map(({ carried }) => carried)))).toBe('pending');
      await bench.bringSchemaBack();
      const late = range(4, 5).map((n) => it.queueOutboxMessage(numbered(n)));
      await it.flush();
      await Promise.all([...early, ...late].map(({ carried }) => carried));
      expect(await bench.stored()).toEqual(range(1, 5));
    });

    it('units of a failed call are sent before those that were queued meanwhile', async () => {
      await using it = strategy();
      await bench.takeSchemaAway();
      it.queueOutboxMessage(numbered(1));
      const failing = it.flush();
      while (bench.calls.length === 0) await Promise.resolve();
      it.queueOutboxMessage(numbered(2));
      await expect(failing).rejects.toThrow();
      await bench.bringSchemaBack();
      it.queueOutboxMessage(numbered(3));
      await it.flush();
      expect(await bench.stored()).toEqual([1, 2, 3]);
    });

    it('a strategy refuses one bad unit and stores all others', async () => {
      await using it = strategy();
      const before = it.queueOutboxMessage(numbered(1));
      const bad = it.queueOutboxMessage(poison());
      const after = it.queueOutboxMessage(numbered(2));
      const verdict = expect(bad.carried).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
      await it.flush();
      await Promise.all([verdict, before.carried, after.carried]);
      expect(await bench.stored()).toEqual([1, 2]);
    });

    it('a strategy tells onError of a refusal that nobody listens to', async () => {
      await using it = strategy();
      it.queueOutboxMessage(poison());
      await it.flush();
      await turns(2);
      expect(errors).toMatchObject([{ code: 'INVALID_REQUEST' }]);
    });

    it('a strategy does not tell onError of a refusal that is listened to after the flush', async () => {
      await using it = strategy();
      const bad = it.queueOutboxMessage(poison());
      await it.flush();
      await expect(bad.carried).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
      await turns(2);
      expect(errors).toEqual([]);
    });

    it('a strategy goes on when onError throws', async () => {
      const logged: object[] = [];
      const logger = { debug() {}, info() {}, warn() {}, error: (facts: object) => logged.push(facts) };
      const onError = () => {
        throw new Error('the alarm is broken');
      };
      await using it = strategy({ onError, logger });
      it.queueOutboxMessage(poison());
      it.queueOutboxMessage(numbered(1));
      await it.flush();
      expect(await bench.stored()).toEqual([1]);
      expect(logged).toMatchObject([{ err: { message: 'the alarm is broken' } }]);
    });

    it('a unit can be withdrawn until a call has it', async () => {
      await using it = strategy();
      const unwanted = it.queueOutboxMessage(numbered(1));
      expect(unwanted.withdraw()).toBe(true);
      expect(unwanted.withdraw()).toBe(false);
      await expect(unwanted.carried).rejects.toMatchObject({ code: 'DISPOSED' });
      const wanted = it.queueOutboxMessage(numbered(2));
      await it.flush();
      expect(wanted.withdraw()).toBe(false);
      expect(await bench.stored()).toEqual([2]);
    });

    it('a unit cannot be withdrawn while a call has it, and can after that call has failed', async () => {
      await using it = strategy();
      const { client, pid } = await openSession(bench.db);
      await client.query('begin; lock table wh_outbox in access exclusive mode');
      const unit = it.queueOutboxMessage(numbered(1));
      // Listened to from the start: it may fail before the cancelling is answered.
      const failing = expect(it.flush()).rejects.toMatchObject({ code: 'TIMEOUT' });
      const backend = await blockedBackend(bench, pid);
      expect(unit.withdraw()).toBe(false);
      await client.query('select pg_cancel_backend($1)', [backend]);
      await failing;
      expect(unit.withdraw()).toBe(true);
      await client.query('rollback');
      await it.flush();
      expect(await bench.stored()).toEqual([]);
    });

    it('a unit that waits behind the call of another strategy can be withdrawn', async () => {
      const line = new CallLine({ coordinator: bench.coordinator });
      await using other = strategy({ line, coordinator: undefined } as Partial<CreateStrategyOptions>);
      await using it = strategy({ line, coordinator: undefined } as Partial<CreateStrategyOptions>);
      const { client, pid } = await openSession(bench.db);
      await client.query('begin; lock table wh_outbox in access exclusive mode');
      other.queueOutboxMessage(numbered(1));
      const flushing = other.flush();
      await blockedBackend(bench, pid);
      const unit = it.queueOutboxMessage(numbered(2));
      const next = it.flush();
      expect(unit.withdraw()).toBe(true);
      await client.query('rollback');
      await Promise.all([flushing, next]);
      expect(await bench.stored()).toEqual([1]);
    });

    it('a strategy flushes at the end of its scope', async () => {
      {
        await using it = strategy();
        it.queueOutboxMessage(numbered(1));
        it.queueOutboxMessage(numbered(2));
      }
      expect(await bench.stored()).toEqual([1, 2]);
    });

    it('a strategy makes no call at its end when there is nothing to flush', async () => {
      await strategy().dispose();
      expect(bench.calls).toEqual([]);
    });

    it('a strategy fails with DISPOSED after its end, and can be disposed again', async () => {
      const it = strategy();
      await Promise.all([it.dispose(), it.dispose()]);
      await it.dispose();
      const disposed = expect.objectContaining({ code: 'DISPOSED' });
      expect(() => it.queueOutboxMessage(numbered(1))).toThrow(disposed);
      expect(() => it.renewInboxLease(numbered(1).messageId)).toThrow(disposed);
      await expect(it.flush()).rejects.toEqual(disposed);
    });

    it('disposing rejects when the last flush fails, and so does all that waited', async () => {
      const it = strategy();
      await bench.takeSchemaAway();
      const queued = range(1, 3).map((n) => it.queueOutboxMessage(numbered(n)));
      await expect(it.dispose()).rejects.toMatchObject({ code: 'NOT_MIGRATED' });
      for (const { carried } of queued) {
        await expect(carried).rejects.toMatchObject({ code: 'DISPOSED', cause: { code: 'NOT_MIGRATED' } });
      }
      await it.dispose();
      await bench.bringSchemaBack();
      expect(await bench.stored()).toEqual([]);
    });

    it('disposing waits for the call in flight, and sends what came after it', async () => {
      const it = strategy();
      const { client, pid } = await openSession(bench.db);
      await client.query('begin; lock table wh_outbox in access exclusive mode');
      it.queueOutboxMessage(numbered(1));
      const flushing = it.flush();
      await blockedBackend(bench, pid);
      const late = it.queueOutboxMessage(numbered(2));
      const disposing = it.dispose();
      expect(await stateOf(disposing)).toBe('pending');
      await client.query('rollback');
      await Promise.all([flushing, disposing, late.carried]);
      expect(await bench.stored()).toEqual([1, 2]);
    });

    it('a strategy takes the same object twice as two units', async () => {
      await using it = strategy();
      const unit: WorkUnit = { newOutboxMessages: [numbered(1)] };
      const twice = [it.queue(unit), it.queue(unit)];
      await it.flush();
      await Promise.all(twice.map(({ carried }) => carried));
      expect(await bench.stored()).toEqual([1]); // the database ignores an id that it has
    });

    it('a strategy refuses a unit with a part that does not exist, or that is not a list', async () => {
      await using it = strategy();
      const queue = (unit: object) => () => it.queue(unit as WorkUnit);
      expect(queue({ newOutboxMessage: [] })).toThrow(
        expect.objectContaining({ code: 'INVALID_OPTION', hint: 'Did you mean newOutboxMessages?' }),
      );
      expect(queue({ newOutboxMessages: numbered(1) })).toThrow(
        expect.objectContaining({ code: 'INVALID_REQUEST' }),
      );
    });

    describe.skipIf(skips['sends by itself'] !== undefined)(
      `The strategy ${name}, when nobody flushes${skips['sends by itself'] ? ` (skipped: ${skips['sends by itself']})` : ''}`,
      () => {
        const short = { intervalMs: 5 };

        it('a strategy sends by itself when nobody flushes', async () => {
          await using it = strategy(short);
          await it.queueOutboxMessage(numbered(1)).carried;
          expect(await bench.stored()).toEqual([1]);
          expect(await bench.leased()).toBe(0);
        });

        it('a strategy that sends by itself tells onError of each failure, tries again, and keeps the order', async () => {
          let told = () => {};
          const failedTwice = new Promise<void>((resolve) => {
            told = resolve;
          });
          const onError = (error: WhizbangError) => {
            if (errors.push(error) === 2) told();
          };
          await using it = strategy({ ...short, onError });
          await bench.takeSchemaAway();
          const queued = range(1, 3).map((n) => it.queueOutboxMessage(numbered(n)));
          await failedTwice;
          await bench.bringSchemaBack();
          await Promise.all(queued.map(({ carried }) => carried));
          expect(await bench.stored()).toEqual([1, 2, 3]);
          expect(errors[0]).toMatchObject({ code: 'NOT_MIGRATED' });
        });

        it('a strategy still sends by itself after a failure that has passed', async () => {
          await using it = strategy(short);
          await bench.takeSchemaAway();
          it.queueOutboxMessage(numbered(1));
          await it.flush().catch(() => {});
          await bench.bringSchemaBack();
          await it.flush();
          await it.queueOutboxMessage(numbered(2)).carried;
          expect(await bench.stored()).toEqual([1, 2]);
        });
      },
    );
  });
}

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await turn();
}

/** The backend that waits for the session with this process id. */
async function blockedBackend({ db }: Workbench, holder: number): Promise<number> {
  for (;;) {
    const { rows } = await db.pool.query<{ pid: number }>(
      'select pid from pg_stat_activity where $1 = any(pg_blocking_pids(pid))',
      [holder],
    );
    if (rows[0] !== undefined) {
      await waitUntilBlocked(db, rows[0].pid);
      return rows[0].pid;
    }
  }
}
