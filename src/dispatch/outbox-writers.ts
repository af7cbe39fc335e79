import { outboxInsert, type WorkCoordinator } from '../coordinator/index.js';
import { WhizbangError } from '../errors.js';
import type { NewOutboxMessage } from '../message.js';
import type { WorkCoordinatorStrategy } from '../strategies/index.js';
import { asQueryable } from '../transactions/index.js';
import type { OutboxWriter } from './dispatcher.js';

/** Stores in the user's transaction: as a plain insert would, or by the function of the call where a version has to hold. */
export function storeInTransaction(coordinator: WorkCoordinator, schema: string, sendsDirectly: boolean) {
  const insert = outboxInsert(schema, sendsDirectly);
  return async (messages: readonly NewOutboxMessage[], tx: unknown): Promise<void> => {
    const db = asQueryable(tx);
    if (messages.some(({ expectedVersion }) => expectedVersion !== undefined)) {
      const room = { maxOutboxItems: 0, maxInboxItems: 0, maxPerspectiveItems: 0 };
      await coordinator.processWorkBatch({ newOutboxMessages: messages, ...room }, db);
      return;
    }
    await insert(db, messages);
  };
}

/** At once: resolves when stored, and rejects when that failed, with nothing left behind that would be stored later. */
export function storeAtOnce(strategy: WorkCoordinatorStrategy): OutboxWriter['store'] {
  return async (newOutboxMessages) => {
    const unit = strategy.queue({ newOutboxMessages });
    await strategy.flush().catch((error: unknown) => {
      if (unit.withdraw()) throw error;
    });
    await unit.carried;
  };
}

/** By the strategy's own timer: resolves when stored. */
export function storeInTime(strategy: WorkCoordinatorStrategy): OutboxWriter['store'] {
  return (newOutboxMessages) => strategy.queue({ newOutboxMessages }).carried;
}

/** In the words of whoever sends: he knows the instance, not its strategy. */
export async function untilStopped(service: string, store: () => Promise<void>): Promise<void> {
  try {
    await store();
  } catch (error) {
    if (!(error instanceof WhizbangError && error.code === 'DISPOSED')) throw error;
    throw new WhizbangError('DISPOSED', {
      message: `${service} cannot send: it is stopped, or was while the message waited.`,
      hint: 'Nothing was stored. Stop the instance after the last one who sends, or make a new one with createWhizbang.',
      cause: error,
    });
  }
}
