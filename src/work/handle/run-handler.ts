import { type Dispatcher, type InvokeOptions, type Sender, whileHandling } from '../../dispatch/index.js';
import { WhizbangError } from '../../errors.js';
import type { EventStore } from '../../events/index.js';
import { type Envelope, isMessageToSend, type MessageToSend } from '../../messages/index.js';
import { invalidOption } from '../../options.js';
import type { Receptor, ReceptorContext } from '../../receptors/index.js';
import { withinTime } from '../../time-limits.js';

/** What a run of a handler is given. */
interface Handling<Tx> {
  readonly envelope: Envelope;
  readonly tx: Tx | undefined;
  readonly attempt: number;
  readonly isLastAttempt: boolean;
  /** Its message is given up for this error: `onGivenUp` is run, and not the handler. */
  readonly givenUp?: Error | undefined;
  /** Its signal is read when the handler asks for it. */
  readonly abort: Abort;
  /** Makes what takes the messages that the handler sends or returns. Most handlers send none. */
  readonly dispatcher: () => Dispatcher;
  readonly events: Decisions;
}

/** Its signal is made when it is read. */
export interface Abort {
  readonly signal: AbortSignal;
}

/** Makes decisions that continue a message. */
interface Decisions {
  continuing(parent: Envelope): Pick<EventStore, 'decide'>;
}

/** Runs a receptor's handler, or its `onGivenUp`, once and with its context. Returns what that returned. */
export function runHandler<Tx>(receptor: Receptor<Tx>, handling: Handling<Tx>): Promise<unknown> {
  const run = new HandlerRun(receptor, handling);
  const { timeoutSeconds } = receptor;
  if (timeoutSeconds === undefined) return run.run(handling.abort);
  return withinTime(timeoutSeconds, handling.abort.signal, (signal) => run.run({ signal })).finally(() =>
    run.end(),
  );
}

class HandlerRun<Tx> {
  readonly #receptor: Receptor<Tx>;
  readonly #handling: Handling<Tx>;
  /** What the handler sends, until it is taken. Undefined: it has sent nothing. */
  #underWay: Set<Promise<unknown>> | undefined;
  #dispatcher: Dispatcher | undefined;
  #isOver = false;

  constructor(receptor: Receptor<Tx>, handling: Handling<Tx>) {
    this.#receptor = receptor;
    this.#handling = handling;
  }

  async run(abort: Abort): Promise<unknown> {
    const { envelope, givenUp } = this.#handling;
    const receptor = this.#receptor;
    try {
      const context = new Context(this, this.#handling, abort);
      const returned = await whileHandling(envelope, () =>
        givenUp === undefined
          ? receptor.handle(envelope.payload, context)
          : receptor.onGivenUp?.(envelope.payload, context as ReceptorContext<Tx>, givenUp),
      );
      const isResult = givenUp === undefined && receptor.definition.resultSchema !== undefined;
      if (!isResult && returned !== undefined) await sendReturned(() => this.dispatcher, returned);
      // Sends that the handler has not awaited are included, or fail it.
      if (this.#underWay !== undefined && this.#underWay.size > 0) await Promise.all(this.#underWay);
      return returned;
    } finally {
      this.end();
    }
  }

  end(): void {
    this.#isOver = true;
  }

  get dispatcher(): Dispatcher {
    this.#dispatcher ??= this.#handling.dispatcher();
    return this.#dispatcher;
  }

  dispatch<T>(send: () => Promise<T>): Promise<T> {
    this.#underWay ??= new Set();
    const underWay = this.#underWay;
    let sending: Promise<T>;
    const run = async () => {
      if (this.#isOver) throw overError(this.#receptor);
      return send().finally(() => underWay.delete(sending));
    };
    sending = run();
    // A handler that throws does not await it. An unhandled rejection must not end the process.
    sending.catch(() => {});
    underWay.add(sending);
    return sending;
  }
}

const abortOf = Symbol('abort');

/** A property of its own, so that it is copied with the others; one function for all, so that it costs little. */
const signalOfContext = {
  enumerable: true,
  configurable: true,
  get(this: { readonly [abortOf]: Abort }): AbortSignal {
    return this[abortOf].signal;
  },
};

class Context<Tx> implements ReceptorContext<Tx | undefined> {
  readonly [abortOf]: Abort;
  readonly tx: Tx | undefined;
  declare readonly signal: AbortSignal;
  readonly envelope: Envelope;
  readonly attempt: number;
  readonly isLastAttempt: boolean;
  readonly send: Sender['send'];
  readonly publish: Sender['publish'];
  readonly invoke: Sender['invoke'];
  readonly decide: ReceptorContext<Tx>['decide'];

  constructor(
    run: HandlerRun<Tx>,
    { envelope, tx, attempt, isLastAttempt, events }: Handling<Tx>,
    abort: Abort,
  ) {
    this[abortOf] = abort;
    Object.defineProperty(this, 'signal', signalOfContext);
    this.tx = tx;
    this.envelope = envelope;
    this.attempt = attempt;
    this.isLastAttempt = isLastAttempt;
    const inTx = tx === undefined ? {} : { tx: tx as object };
    this.send = ((...[messages, options]: Parameters<Dispatcher['send']>) =>
      run.dispatch(async () => run.dispatcher.send(messages, here('send', options, tx)))) as Sender['send'];
    this.publish = ((...[messages, options]: Parameters<Dispatcher['publish']>) =>
      run.dispatch(async () =>
        run.dispatcher.publish(messages, here('publish', options, tx)),
      )) as Sender['publish'];
    this.invoke = (command, options?: InvokeOptions) =>
      run.dispatch(async () =>
        run.dispatcher.invoke(command, {
          signal: abort.signal,
          ...here('invoke', options, tx),
          ...inTx,
        }),
      );
    this.decide = (decider, id, decision) =>
      run.dispatch(() => events.continuing(envelope).decide(decider, id, decision, inTx));
  }
}

/**
 * Returns the options without their transaction. What is sent through `ctx` is stored with the completion of the
 * message, so no transaction but that one can be asked for. (Undefined is refused as everywhere.)
 */
function here<Options extends { readonly tx?: object }>(
  method: keyof Sender,
  options: Options | undefined,
  tx: unknown,
): Omit<Options, 'tx'> | undefined {
  if (options?.tx == null) return options;
  if (options.tx !== tx) {
    const fact = 'tx is not ctx.tx, and ctx sends with the completion of its message';
    throw invalidOption(
      `ctx.${method}`,
      'tx',
      fact,
      `For another transaction use ${method} of the instance.`,
    );
  }
  const { tx: _, ...others } = options;
  return others;
}

/** Sends the messages that a handler returned: commands to their receiver, events to all subscribers. */
async function sendReturned(dispatcher: () => Dispatcher, returned: unknown): Promise<void> {
  for (const message of Array.isArray(returned) ? (returned as unknown[]) : [returned]) {
    if (!isMessageToSend(message)) continue;
    if (message.definition.kind === 'command') await dispatcher().send(message as MessageToSend<'command'>);
    else await dispatcher().publish(message as MessageToSend<'event'>);
  }
}

/** Error for a send after the handler has ended: the message would be accepted and never sent. */
function overError({ name }: Receptor<never>): WhizbangError {
  return new WhizbangError('DISPOSED', {
    message: `The receptor ${name} has ended and its messages are stored: it cannot send any more.`,
    hint: 'Await everything that sends before the receptor returns.',
  });
}
