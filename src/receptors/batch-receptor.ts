// A handler of many messages of one kind at once, in one transaction.
// In: a definition, options, a function. Out: a frozen Receptor, or INVALID_OPTION.
// Called by users; the workers gather the messages and run what it makes.
import type { Queryable } from '../database/index.js';
import type { Envelope, MessageDefinition, MessageKind } from '../messages/index.js';
import { batchOptions, invalidOption, resolveOptions } from '../options.js';
import { receptorFor } from './receptor.js';
import type { Receptor, ReceptorContext, ReceptorOptions } from './receptor-types.js';

/** Options of `batchReceptor`. */
export interface BatchOptions extends Pick<ReceptorOptions, 'name' | 'retry' | 'timeoutSeconds'> {
  /** How many messages it handles in one call at most. */
  readonly size: number;
  /** How long the first message of a batch waits for more. Default: 0, it takes what is there. */
  readonly waitMs?: number | undefined;
}

/** What the handler of a batch gets besides the payloads. What it sends continues the first message of the batch. */
export interface BatchContext<Tx = Queryable, Payload = unknown>
  extends Pick<ReceptorContext<Tx>, 'tx' | 'signal' | 'send' | 'publish' | 'invoke' | 'decide'> {
  /** The envelopes, in the order of the payloads. */
  readonly envelopes: readonly Envelope<Payload>[];
}

// biome-ignore lint/suspicious/noConfusingVoidType: users declare handlers that return nothing so
type Results = void | readonly (Error | null | undefined)[];

/**
 * Handles many messages in one transaction. It returns nothing, or an array with an Error at the place of each
 * message that has failed; if it throws, all have failed.
 */
export type BatchHandler<Output, Tx> = (
  payloads: readonly Output[],
  context: BatchContext<Tx, Output>,
) => Results | Promise<Results>;

/** What a worker gives a receptor of batches instead of a payload. */
export class BatchOf {
  constructor(readonly envelopes: readonly Envelope[]) {}
}

/** The type of `batchReceptor`. */
export type MakeBatchReceptor<Tx> = <Output>(
  definition: MessageDefinition<MessageKind, never, Output, void>,
  options: BatchOptions,
  handler: BatchHandler<Output, Tx>,
) => Receptor<Tx>;

/** Returns `batchReceptor` for handlers whose `ctx.tx` is a transaction of an ORM. */
export function batchReceptorFor<Tx>(): MakeBatchReceptor<Tx> {
  return (definition, options, handler) => {
    const owner = `batchReceptor(${(definition as { type?: unknown } | undefined)?.type})`;
    const usage = 'Write batchReceptor(RowImported, { size: 100, waitMs: 50 }, async (payloads, ctx) => …).';
    if (typeof handler !== 'function') throw invalidOption(owner, 'handler', 'there is no handler', usage);
    const { name, retry, timeoutSeconds, ...rest } = { ...options };
    const batch = resolveOptions(owner, batchOptions, rest, ['name', 'retry', 'timeoutSeconds']);
    if (batch.size === undefined) throw invalidOption(owner, 'size', 'size is missing', usage);
    const plain = receptorFor<Tx>()(
      definition as never,
      { name, retry, timeoutSeconds, alone: true },
      (() => {}) as never,
    );
    return Object.freeze({
      ...plain,
      batch: Object.freeze({ size: batch.size, waitMs: batch.waitMs }),
      handle: async (given: unknown, { envelope, attempt, ...context }: ReceptorContext<Tx | undefined>) => {
        const envelopes = (
          given instanceof BatchOf ? given.envelopes : [envelope]
        ) as readonly Envelope<never>[];
        const payloads = envelopes.map(({ payload }) => payload);
        const results = await handler(payloads, { ...(context as ReceptorContext<Tx>), envelopes });
        if (given instanceof BatchOf) return results;
        if (results?.[0] instanceof Error) throw results[0]; // invoked with one message
      },
    });
  };
}

/** Makes a handler of many messages of one kind at once. `ctx.tx` has `query(text, values)`. */
export const batchReceptor: MakeBatchReceptor<Queryable> = batchReceptorFor<Queryable>();
