import { outageFacts } from '../describe-error.js';
import type { Logger } from '../logger.js';
import type { TransportState } from '../transports/index.js';
import type { WhizbangEmitter } from './events.js';

/** Whether the transport can be used, from what its connection tells and from what sending finds out. */
export class TransportReadiness {
  readonly #events: WhizbangEmitter;
  readonly #logger: Logger;
  #state: TransportState = { sending: true, receiving: true };
  #canSend = true;
  #isReady = true;

  constructor(events: WhizbangEmitter, logger: Logger) {
    this.#events = events;
    this.#logger = logger;
  }

  readonly onState = (state: TransportState): void => {
    this.#state = state;
    // A connection that works again may have failed to send before: the publisher waits for it.
    if (state.sending) this.#canSend = true;
    this.#tell(state.error);
  };

  /** Told by the publisher: it can send, or not because of this error. */
  sends(error?: unknown): void {
    this.#canSend = error === undefined;
    this.#tell(error);
  }

  #tell(error: unknown): void {
    const isReady = this.#canSend && this.#state.sending && this.#state.receiving;
    if (isReady === this.#isReady) return;
    this.#isReady = isReady;
    if (isReady) this.#logger.info({}, 'The transport can be reached again');
    else
      this.#logger.warn(outageFacts(error), 'The transport cannot be reached; messages wait in the outbox');
    this.#events.reachable('transport', isReady);
  }
}
