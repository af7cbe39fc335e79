// A handler is bound to the message that it handles, with the types of both.
// In: a definition, options, a function. Out: a frozen Receptor, or INVALID_OPTION.
// Called by users; the workers run what it makes. It never runs a handler itself.
import type { Queryable } from '../database/index.js';
import { isName, type MessageDefinition, type MessageKind } from '../messages/index.js';
import { invalidOption, receptorOptions, resolveOptions } from '../options.js';
import { aroundHandle } from './around.js';
import { limitOptions, resolveLimit } from './receptor-limit.js';
import type { Around, Receptor, ReceptorHandler, ReceptorOptions } from './receptor-types.js';
import { resolveRetryPolicy } from './retry-policy.js';

const usage =
  'Write receptor(OrderPlaced, handler) or receptor(OrderPlaced, { timeoutSeconds: 30 }, handler).';

const givenUpUsage = 'For example onGivenUp: (payload, ctx, error) => ChargeFailed({ … }).';

/**
 * The type of `receptor`: call `receptor(definition, handler)` or `receptor(definition, options, handler)`.
 */
export interface MakeReceptor<Tx> {
  <Output, Result>(
    definition: MessageDefinition<MessageKind, never, Output, Result>,
    handler: ReceptorHandler<Output, Result, Tx>,
  ): Receptor<Tx>;
  <Output, Result, const Transaction extends boolean = true>(
    definition: MessageDefinition<MessageKind, never, Output, Result>,
    options: ReceptorOptions<Transaction, NoInfer<Output>, Tx>,
    handler: ReceptorHandler<Output, Result, Transaction extends false ? undefined : Tx>,
  ): Receptor<[Transaction] extends [false] ? unknown : Tx>; // without a transaction it fits every service
}

/**
 * Returns `receptor` for handlers whose `ctx.tx` is a transaction of an ORM: `const receptor =
 * receptorFor<Prisma.TransactionClient>()`.
 */
export function receptorFor<Tx>(): MakeReceptor<Tx> {
  return makeReceptor as MakeReceptor<Tx>;
}

/** Makes a handler of one kind of message. `ctx.tx` has `query(text, values)`. */
export const receptor: MakeReceptor<Queryable> = receptorFor<Queryable>();

function makeReceptor(definition: MessageDefinition, ...rest: readonly unknown[]): Receptor<unknown> {
  if (typeof definition !== 'function' || typeof definition.type !== 'string') {
    throw invalidOption('receptor', 'definition', 'the first argument is not a message definition', usage);
  }
  const owner = `receptor(${definition.type})`;
  const [options, handler] = typeof rest[0] === 'function' ? [{}, rest[0]] : rest;
  if (handler === rest[0] && rest.length > 1)
    throw invalidOption(owner, 'handler', 'an argument follows the handler, which must be the last', usage);
  if (typeof handler !== 'function') throw invalidOption(owner, 'handler', 'there is no handler', usage);
  const given = (options ?? {}) as Readonly<Record<string, unknown>>;
  const others = ['name', 'transaction', 'alone', 'retry', 'around', 'onGivenUp', ...limitOptions];
  const { timeoutSeconds } = resolveOptions(owner, receptorOptions, given, others);
  const { name = definition.type, transaction = true, alone = false, retry = {}, around, onGivenUp } = given;
  if (!isName(name)) throw invalidOption(owner, 'name', 'name is not a text, or is empty', usage);
  if (typeof transaction !== 'boolean')
    throw invalidOption(owner, 'transaction', 'transaction is neither true nor false', usage);
  if (typeof alone !== 'boolean')
    throw invalidOption(owner, 'alone', 'alone is neither true nor false', usage);
  if (onGivenUp !== undefined && typeof onGivenUp !== 'function')
    throw invalidOption(owner, 'onGivenUp', 'onGivenUp is not a function', givenUpUsage);
  if (around !== undefined && typeof around !== 'function')
    throw invalidOption(owner, 'around', 'around is not a function', 'Give (message, ctx, next) => next().');
  resolveRetryPolicy(owner, retry);
  const handle = handler as Receptor<unknown>['handle'];
  return Object.freeze({
    name,
    definition,
    transactional: transaction,
    alone,
    retry: Object.freeze({ ...(retry as object) }),
    timeoutSeconds,
    limit: resolveLimit(owner, given),
    handle: around === undefined ? handle : aroundHandle(around as Around<unknown>, handle),
    ...(onGivenUp !== undefined && { onGivenUp: onGivenUp as NonNullable<Receptor<unknown>['onGivenUp']> }),
  });
}
