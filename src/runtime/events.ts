import { EventEmitter } from 'node:events';
import { describeError } from '../describe-error.js';
import { WhizbangError } from '../errors.js';
import type { Logger } from '../logger.js';

/** What an instance tells of itself. Listeners are for looking on: nothing waits for them. */
export interface WhizbangEvents {
  /** Nothing is held and nothing was found. */
  idle: [];
  /** There is work again. */
  active: [];
  /** PostgreSQL or the transport can be reached, or has stopped to be. Told at the end of `start` and the beginning of `stop` too. */
  readiness: [Readiness];
  /** An attempt failed and is tried again. */
  failure: [
    MessageNotice & {
      readonly type: string;
      readonly attempt: number;
      readonly error: unknown;
      readonly retryAfterSeconds: number;
    },
  ];
  /** A message was given up. */
  deadLetter: [MessageNotice & { readonly type: string; readonly attempt: number; readonly error: unknown }];
  /** This instance does not hold them any more, or not surely. Somebody handles them. */
  leaseLost: [MessageNotice[]];
}

const names = {
  idle: true,
  active: true,
  readiness: true,
  failure: true,
  deadLetter: true,
  leaseLost: true,
} as const satisfies Record<keyof WhizbangEvents, true>;

/** Which message an event is about. */
export interface MessageNotice {
  readonly source: 'outbox' | 'inbox';
  readonly messageId: string;
}

/** What can be reached. Asked for by readiness probes. */
export interface Readiness {
  readonly database: boolean;
  readonly transport: boolean;
}

type Listener<Name extends keyof WhizbangEvents> = (...args: WhizbangEvents[Name]) => void;

/** It has an EventEmitter and is none: the types of those change with every @types/node, and users check ours against theirs. */
export class WhizbangEmitter {
  readonly #emitter = new EventEmitter();
  readonly #logger: Logger;
  #isStarted = false;
  /** Who has not started is not ready, whatever could be reached. */
  #readiness: Readiness = { database: false, transport: false };

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  on<Name extends keyof WhizbangEvents>(name: Name, listener: Listener<Name>): void {
    if (!Object.hasOwn(names, name)) throw unknownEvent(name);
    this.#emitter.on(name, listener as (...args: unknown[]) => void);
  }

  off<Name extends keyof WhizbangEvents>(name: Name, listener: Listener<Name>): void {
    this.#emitter.off(name, listener as (...args: unknown[]) => void);
  }

  /** What a listener throws must not pass for an error of the call, or keep a failure from being reported. */
  emit<Name extends keyof WhizbangEvents>(name: Name, ...args: WhizbangEvents[Name]): void {
    const listeners = this.#emitter.rawListeners(name) as Listener<Name>[];
    if (listeners.length === 0) this.#logUnheard(name, args);
    const onError = (error: unknown) =>
      this.#logger.error({ event: name, error: describeError(error) }, 'A listener threw');
    for (const listener of listeners) {
      try {
        const returned: unknown = listener(...args);
        if (returned instanceof Promise) returned.catch(onError); // nobody else would, and it would end the process
      } catch (error) {
        onError(error);
      }
    }
  }

  /** A receptor that throws must be seen somewhere: in the log, until somebody listens. */
  #logUnheard(name: keyof WhizbangEvents, [told]: readonly unknown[]): void {
    if (name !== 'failure' && name !== 'deadLetter') return;
    const { error, ...facts } = told as WhizbangEvents['deadLetter'][0];
    const { retryAfterSeconds } = facts as { retryAfterSeconds?: number };
    const described = {
      ...facts,
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds: Number(retryAfterSeconds.toFixed(2)) }),
      ...(error instanceof WhizbangError && { hint: error.hint }),
      error: describeError(error),
    };
    if (name === 'failure') this.#logger.warn(described, 'An attempt failed, and is made again');
    else this.#logger.error(described, 'A message was given up, and is a dead letter');
  }

  get readiness(): Readiness {
    return this.#readiness;
  }

  reachable(what: keyof Readiness, isReachable: boolean): void {
    if (this.#isStarted) this.#tell({ ...this.#readiness, [what]: isReachable });
  }

  /** It has started, or begins to stop. */
  ready(isReady: boolean): void {
    this.#isStarted = isReady;
    this.#tell({ database: isReady, transport: isReady });
  }

  #tell(readiness: Readiness): void {
    const { database, transport } = this.#readiness;
    if (readiness.database === database && readiness.transport === transport) return;
    this.#readiness = readiness;
    this.emit('readiness', readiness);
  }
}

/** Nobody would ever tell a listener to a misspelt one. */
function unknownEvent(name: string): WhizbangError {
  return new WhizbangError('INVALID_OPTION', {
    message: `on: there is no event ${name}.`,
    hint: `There are ${Object.keys(names).join(', ')}.`,
    details: { option: 'event', value: name },
  });
}
