import type { Dispatcher, Invocation, Invoker, OutboxWriter } from '../../dispatch/index.js';
import { WhizbangError } from '../../errors.js';
import type { NewOutboxMessage } from '../../message.js';
import type { Envelope } from '../../messages/index.js';
import type { RunWatched } from '../transaction/transaction-watch.js';
import type { ReceptorRegistry } from './receptor-registry.js';
import { runHandler } from './run-handler.js';

export interface InvokerOptions<Tx> {
  readonly registry: ReceptorRegistry<Tx>;
  readonly transaction: RunWatched<Tx>;
  /** For what is sent in a transaction that was begun for the invocation. */
  readonly outbox: OutboxWriter;
  readonly dispatcherFor: (parent: Envelope, outbox: OutboxWriter) => Dispatcher;
  readonly isStopped: () => boolean;
}

/**
 * Runs the receptor of a command here and now and gives what it returned. Nothing is queued, retried or deduplicated.
 * What the receptor sends is stored in its transaction, which is the caller's when there is one.
 */
export function localInvoker<Tx>(options: InvokerOptions<Tx>): Invoker {
  return async ({ envelope, tx, signal, outbox }) => {
    const [receptor] = options.registry.receptorsFor(envelope.type);
    if (receptor === undefined) throw noReceptor(envelope);
    if (options.isStopped()) throw stopped(envelope);
    const run = async (
      inTx: Tx | undefined,
      into: OutboxWriter,
      until = signal ?? new AbortController().signal,
    ): Promise<unknown> => {
      const sent: NewOutboxMessage[] = [];
      const dispatcher = options.dispatcherFor(envelope, { store: async (more) => void sent.push(...more) });
      const returned = await runHandler(receptor, {
        envelope,
        tx: inTx,
        attempt: 1,
        signal: until,
        dispatcher,
      });
      if (sent.length > 0) await into.store(sent, inTx);
      return returned;
    };
    if (!receptor.transactional) return run(undefined, outbox);
    if (tx !== undefined) return run(tx as Tx, outbox);
    return options.transaction((own, watched) =>
      run(
        own,
        options.outbox,
        signal === undefined ? watched.signal : AbortSignal.any([signal, watched.signal]),
      ),
    );
  };
}

function stopped({ type }: Invocation['envelope']): WhizbangError {
  return new WhizbangError('DISPOSED', {
    message: `${type} cannot be invoked: the instance is stopped.`,
    hint: 'Stop the instance after the last one who invokes, or make a new one with createWhizbang.',
    details: { type },
  });
}

function noReceptor({ type }: Invocation['envelope']): WhizbangError {
  return new WhizbangError('NO_RECEPTOR', {
    message: `There is no receptor for ${type} in this process.`,
    details: { type },
  });
}
