// Runs the receptor of a command at once, in this process. Nothing is queued, retried or deduplicated.
// In: an invocation. Out: what the receptor returned. What it sent is stored in its transaction, which is the
// caller's if there is one. Called by dispatchers. It never runs anything after it was stopped.
import {
  CollectedMessages,
  continuing,
  type Invocation,
  noReceptor,
  type Origin,
  type OutboxWriter,
} from '../../dispatch/index.js';
import { WhizbangError } from '../../errors.js';
import type { EventStore } from '../../events/index.js';
import type { Receptor } from '../../receptors/index.js';
import type { RunWatched } from '../transaction/transaction-watch.js';
import type { ReceptorRegistry } from './receptor-registry.js';
import { runHandler } from './run-handler.js';

interface InvokingTelemetry {
  invoke<T>(
    command: { envelope: Invocation['envelope']; receptor: { name: string } },
    run: () => Promise<T>,
  ): Promise<T>;
}

interface LocalInvokerOptions<Tx> {
  readonly registry: ReceptorRegistry<Tx>;
  readonly transaction: RunWatched<Tx>;
  /** Stores the messages that are sent in a transaction begun for the invocation. */
  readonly outbox: OutboxWriter;
  /** The event store, for decisions of receptors. */
  readonly events: EventStore;
  /** Records that a receptor runs. */
  readonly telemetry?: InvokingTelemetry | undefined;
  /** Origin of the messages that the receptors send. */
  readonly origin: Omit<Origin, 'invoker'>;
}

export class LocalInvoker<Tx> {
  /** Origin for every dispatcher of the instance: they invoke through this class. */
  readonly origin: Origin;
  readonly #options: LocalInvokerOptions<Tx>;
  #isStopped = false;

  constructor(options: LocalInvokerOptions<Tx>) {
    this.#options = options;
    this.origin = { ...options.origin, invoker: (invocation) => this.invoke(invocation) };
  }

  /** Refuses further invocations. Called when the last receptor of the instance has ended. */
  stop(): void {
    this.#isStopped = true;
  }

  async invoke(invocation: Invocation): Promise<unknown> {
    const { envelope } = invocation;
    const { registry, telemetry } = this.#options;
    const [receptor] = registry.receptorsFor(envelope.type);
    if (receptor === undefined) throw noReceptor(envelope);
    if (this.#isStopped) throw stopped(envelope);
    const run = () => this.#runIn(receptor, invocation);
    return telemetry?.invoke({ envelope, receptor }, run) ?? run();
  }

  /** Runs it in the transaction of the caller, in one of its own, or in none. */
  async #runIn(receptor: Receptor<Tx>, { envelope, tx, signal, outbox }: Invocation): Promise<unknown> {
    if (!receptor.transactional) return this.#run(receptor, envelope, undefined, signal ?? never(), outbox);
    if (tx !== undefined) return this.#run(receptor, envelope, tx as Tx, signal ?? never(), outbox);
    return this.#options.transaction((own, watched) => {
      const either = signal === undefined ? watched.signal : AbortSignal.any([signal, watched.signal]);
      return this.#run(receptor, envelope, own, either, this.#options.outbox);
    });
  }

  async #run(
    receptor: Receptor<Tx>,
    envelope: Invocation['envelope'],
    tx: Tx | undefined,
    signal: AbortSignal,
    outbox: OutboxWriter,
  ): Promise<unknown> {
    const sent = new CollectedMessages();
    const dispatcher = () => continuing({ ...this.origin, tx: tx as object | undefined }, envelope, sent);
    const { events } = this.#options;
    const returned = await runHandler(receptor, {
      envelope,
      tx,
      attempt: 1,
      isLastAttempt: true, // nothing tries it again
      abort: { signal },
      dispatcher,
      events,
    });
    if (sent.messages.length > 0) await outbox.store(sent.messages, tx);
    return returned;
  }
}

const never = () => new AbortController().signal;

function stopped({ type }: Invocation['envelope']): WhizbangError {
  return new WhizbangError('DISPOSED', {
    message: `${type} cannot be invoked: the instance is stopped.`,
    hint: 'Stop the instance after the last invoke has returned, or create a new one with createWhizbang.',
    details: { type },
  });
}
