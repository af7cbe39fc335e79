import type {
  MessageCompletion,
  MessageFailure,
  MessageId,
  NewInboxMessage,
  NewOutboxMessage,
  ReceptorCompletion,
  ReceptorFailure,
} from '../message.js';
import type { QueuedUnit, WorkUnit } from './strategy.js';

/** Methods that queue a unit of one item, under the names fixed by the contract. */
export abstract class UnitShorthand {
  abstract queue(unit: WorkUnit): QueuedUnit;

  queueOutboxMessage(message: NewOutboxMessage): QueuedUnit {
    return this.queue({ newOutboxMessages: [message] });
  }

  queueInboxMessage(message: NewInboxMessage): QueuedUnit {
    return this.queue({ newInboxMessages: [message] });
  }

  queueOutboxCompletion(completion: MessageCompletion): QueuedUnit {
    return this.queue({ outboxCompletions: [completion] });
  }

  queueOutboxFailure(failure: MessageFailure): QueuedUnit {
    return this.queue({ outboxFailures: [failure] });
  }

  queueInboxCompletion(completion: MessageCompletion): QueuedUnit {
    return this.queue({ inboxCompletions: [completion] });
  }

  queueInboxFailure(failure: MessageFailure): QueuedUnit {
    return this.queue({ inboxFailures: [failure] });
  }

  queueReceptorCompletion(completion: ReceptorCompletion): QueuedUnit {
    return this.queue({ receptorCompletions: [completion] });
  }

  queueReceptorFailure(failure: ReceptorFailure): QueuedUnit {
    return this.queue({ receptorFailures: [failure] });
  }

  renewOutboxLease(messageId: MessageId): QueuedUnit {
    return this.queue({ renewOutboxLeaseIds: [messageId] });
  }

  renewInboxLease(messageId: MessageId): QueuedUnit {
    return this.queue({ renewInboxLeaseIds: [messageId] });
  }
}
