import { EventEmitter } from 'node:events';
import { describeBriefly, describeError } from '../describe-error.js';
import { WhizbangError } from '../errors.js';
import type { Logger } from '../logger.js';

/** Events of an instance. Listeners only observe: nothing waits for them. */
export interface WhizbangEvents {
  /** Nothing is held and nothing was found. */
  idle: [];
  /** There is work again. */
  active: [];
  /**
   * PostgreSQL or the transport can be reached, or can no longer be reached.
   * Also emitted at the end of `start` and at the beginning of `stop`.
   */
  readiness: [Readiness];
  /**
   * An attempt failed, and the message is retried. Without `retryAfterSeconds` the
   * receptor is given up, and the message goes on with its other receptors.
   */
  failure: [
    MessageNotice & {
      readonly type: string;
      readonly streamId: string | null;
      /** The trace that the message was sent in. */
      readonly traceId?: string | undefined;
      /** Absent: no receptor failed, but what comes before them, or sending to the transport. */
      readonly receptor?: string | undefined;
      /** The attempt of this receptor. */
      readonly attempt: number;
      readonly error: unknown;
      readonly retryAfterSeconds?: number | undefined;
    },
  ];
  /** A message was given up and is a dead letter. */
  deadLetter: [
    MessageNotice & {
      readonly type: string;
      readonly streamId: string | null;
      readonly traceId?: string | undefined;
      /** Absent: as for a failure, or several receptors are missing, which the error names. */
      readonly receptor?: string | undefined;
      readonly attempt: number;
      readonly error: unknown;
    },
  ];
  /**
   * Events of this type were sent that no service has ever subscribed to, so nobody gets them. `count`: how many since
   * the start of this instance.
   */
  unheard: [{ readonly type: string; readonly count: number }];
  /**
   * A receptor has handled a message: its transaction is committed, or, without one, its report is on the way.
   */
  handled: [
    MessageNotice & {
      readonly type: string;
      readonly receptor: string;
      readonly streamId: string | null;
      readonly attempt: number;
      /** How long the handler ran, without its transaction's begin and commit. */
      readonly durationMs: number;
    },
  ];
  /**
   * A message of the outbox was handed to the transport. What goes straight to the service's own inbox never
   * was in the outbox.
   */
  published: [
    MessageNotice & {
      readonly type: string;
      readonly destination: string;
      readonly streamId: string | null;
      readonly attempt: number;
      /** How long the transport took, for the whole batch in which the message was. */
      readonly durationMs: number;
    },
  ];
  /**
   * This instance no longer holds these messages, or may no
   * longer hold them. They are still handled by some instance.
   */
  leaseLost: [MessageNotice[]];
}

const names = {
  idle: true,
  active: true,
  readiness: true,
  failure: true,
  deadLetter: true,
  unheard: true,
  handled: true,
  published: true,
  leaseLost: true,
} as const satisfies Record<keyof WhizbangEvents, true>;

/** The message that an event is about. */
export interface MessageNotice {
  readonly source: 'outbox' | 'inbox';
  readonly messageId: string;
}

/** What can be reached, for readiness probes. */
export interface Readiness {
  readonly database: boolean;
  readonly transport: boolean;
}

type Listener<Name extends keyof WhizbangEvents> = (...args: WhizbangEvents[Name]) => void;

/**
 * Wraps EventEmitter instead of extending it: its types differ between
 * versions of @types/node, and users compile against ours.
 */
export class WhizbangEmitter {
  readonly #emitter = new EventEmitter();
  readonly #logger: Logger;
  #isStarted = false;
  /** What was last told, also before the start. */
  #reachable: Readiness = { database: true, transport: true };
  /** Both false until the instance has started, whatever could be reached. */
  #readiness: Readiness = { database: false, transport: false };

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  on<Name extends keyof WhizbangEvents>(name: Name, listener: Listener<Name>): void {
    if (!Object.hasOwn(names, name)) throw unknownEvent(name);
    this.#emitter.on(name, listener as (...args: unknown[]) => void);
  }

  /** Whether anybody listens: what is told of every message is put together only then. */
  isHeard(name: keyof WhizbangEvents): boolean {
    return this.#emitter.listenerCount(name) > 0;
  }

  off<Name extends keyof WhizbangEvents>(name: Name, listener: Listener<Name>): void {
    this.#emitter.off(name, listener as (...args: unknown[]) => void);
  }

  /**
   * Calls the listeners. An error of a listener must not look like
   * an error of the call, or prevent a failure from being reported.
   */
  emit<Name extends keyof WhizbangEvents>(name: Name, ...args: WhizbangEvents[Name]): void {
    const listeners = this.#emitter.rawListeners(name) as Listener<Name>[];
    if (listeners.length === 0) this.#logUnheard(name, args);
    const onError = (error: unknown) =>
      this.#logger.error({ event: name, error: describeError(error) }, 'A listener threw an error');
    for (const listener of listeners) {
      try {
        const returned: unknown = listener(...args);
        if (returned instanceof Promise) returned.catch(onError); // unhandled, it would end the process
      } catch (error) {
        onError(error);
      }
    }
  }

  /**
   * Logs a failure that has no listener, so that a receptor that throws is always noticed. An attempt that will be
   * made again is one line: its stack comes with the last attempt, and is stored with the message.
   */
  #logUnheard(name: keyof WhizbangEvents, [told]: readonly unknown[]): void {
    if (name !== 'failure' && name !== 'deadLetter') return;
    const { error, ...facts } = told as WhizbangEvents['deadLetter'][0];
    const { retryAfterSeconds } = facts as { retryAfterSeconds?: number };
    const described = {
      ...facts,
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds: Number(retryAfterSeconds.toFixed(2)) }),
      ...(error instanceof WhizbangError && { hint: error.hint }),
      error: retryAfterSeconds === undefined ? describeError(error) : describeBriefly(error),
    };
    if (name === 'deadLetter')
      this.#logger.error(described, 'A message was given up and is now a dead letter');
    else if (retryAfterSeconds !== undefined)
      this.#logger.warn(described, 'An attempt failed; the message will be tried again');
    else this.#logger.error(described, 'A receptor was given up; its message goes on with the others');
  }

  get readiness(): Readiness {
    return this.#readiness;
  }

  reachable(what: keyof Readiness, isReachable: boolean): void {
    this.#reachable = { ...this.#reachable, [what]: isReachable };
    if (this.#isStarted) this.#tell(this.#reachable);
  }

  /** Sets the readiness when the instance has started, or begins to stop. */
  ready(isReady: boolean): void {
    this.#isStarted = isReady;
    this.#tell(isReady ? this.#reachable : { database: false, transport: false });
  }

  #tell(readiness: Readiness): void {
    const { database, transport } = this.#readiness;
    if (readiness.database === database && readiness.transport === transport) return;
    this.#readiness = readiness;
    this.emit('readiness', readiness);
  }
}

/** The refusal of a misspelt event: its listener would never be called. */
function unknownEvent(name: string): WhizbangError {
  return new WhizbangError('INVALID_OPTION', {
    message: `on: there is no event ${name}.`,
    hint: `Known events: ${Object.keys(names).join(', ')}.`,
    details: { option: 'event', value: name },
  });
}
