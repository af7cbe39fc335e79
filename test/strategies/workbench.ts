// What the tests of strategies start from: a database, its coordinator, and a count of the calls made through it.
// A database that fails is one whose schema is away: every call is refused, and nothing of it is applied.
import { type WorkBatchRequest, WorkCoordinator } from '../../src/coordinator/index.js';
import type { NewOutboxMessage } from '../../src/message.js';
import { newMessageId } from '../../src/message-id.js';
import type { WorkUnit } from '../../src/strategies/index.js';
import { outboxMessage } from '../coordinator/new-messages.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

export interface Workbench extends AsyncDisposable {
  readonly db: TestDatabase;
  readonly coordinator: Pick<WorkCoordinator, 'processWorkBatch'>;
  /** Every request so far. */
  readonly calls: readonly WorkBatchRequest[];
  takeSchemaAway(): Promise<void>;
  bringSchemaBack(): Promise<void>;
  /** What is in the outbox, in order, by the number in its data. */
  stored(): Promise<number[]>;
  /** How many messages of the outbox somebody has leased. */
  leased(): Promise<number>;
}

export async function openWorkbench(): Promise<Workbench> {
  const db = await createTestDatabase();
  const coordinator = new WorkCoordinator({ pool: db.pool, instance: { serviceName: 'orders' } });
  const calls: WorkBatchRequest[] = [];
  const first = async (sql: string) => (await db.pool.query(sql)).rows[0];
  return {
    db,
    calls,
    coordinator: {
      processWorkBatch: (request) => {
        calls.push(request ?? {});
        return coordinator.processWorkBatch(request);
      },
    },
    takeSchemaAway: () => first('alter schema whizbang rename to away'),
    bringSchemaBack: () => first('alter schema away rename to whizbang'),
    stored: async () =>
      (
        await db.pool.query("select (event_data->>'n')::int as n from wh_outbox order by sequence_order")
      ).rows.map(({ n }) => n),
    leased: async () =>
      (await first('select count(*)::int as leased from wh_outbox where instance_id is not null')).leased,
    [Symbol.asyncDispose]: () => db.drop(),
  };
}

const stream = newMessageId();

/** Messages of one stream, numbered. */
export const numbered = (n: number, more: Partial<NewOutboxMessage> = {}): NewOutboxMessage =>
  outboxMessage({ eventData: { n }, streamId: stream, ...more });

/** One that PostgreSQL cannot store. */
export const poison = (n = -1): NewOutboxMessage => numbered(n, { eventData: { n, text: 'a\0b' } });

/** A unit with one such message. */
export const sends = (n: number): WorkUnit => ({ newOutboxMessages: [numbered(n)] });
export const poisoned = (n?: number): WorkUnit => ({ newOutboxMessages: [poison(n)] });

export const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** Resolves when the promise is settled, or says that it is not after everything that is due has run. */
export async function stateOf(promise: Promise<unknown>): Promise<'pending' | 'resolved' | 'rejected'> {
  const turn = new Promise<'pending'>((resolve) => setImmediate(() => resolve('pending')));
  return Promise.race([
    promise.then(
      () => 'resolved' as const,
      () => 'rejected' as const,
    ),
    turn,
  ]);
}
