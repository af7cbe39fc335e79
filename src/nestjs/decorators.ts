// Methods of providers become receptors. In: a definition and options, at a method of a class. Out: a note beside the
// class of what the method handles. Read by found-receptors.ts when the application starts; nothing runs here.
import type { Queryable } from '../database/index.js';
import type { MessageDefinition, MessageKind } from '../messages/index.js';
import type {
  BatchHandler,
  BatchOptions,
  GivenUpHandler,
  ReceptorHandler,
  ReceptorOptions,
} from '../receptors/index.js';

/** A decorator of methods that have this type. */
export type MethodDecoratorFor<Method> = <Decorated extends Method>(
  target: object,
  method: string | symbol,
  descriptor: TypedPropertyDescriptor<Decorated>,
) => void;

/** The type of `Handles`. */
export type HandlesDecorator<Tx> = <Output, Result, const Transaction extends boolean = true>(
  definition: MessageDefinition<MessageKind, never, Output, Result>,
  options?: ReceptorOptions<Transaction, NoInfer<Output>, Tx>,
) => MethodDecoratorFor<ReceptorHandler<Output, Result, Transaction extends false ? undefined : Tx>>;

/** The type of `HandlesBatch`. */
export type HandlesBatchDecorator<Tx> = <Output>(
  definition: MessageDefinition<MessageKind, never, Output, void>,
  options: BatchOptions,
) => MethodDecoratorFor<BatchHandler<Output, Tx>>;

/** The type of `OnGivenUp`. */
export type OnGivenUpDecorator<Tx> = <Output>(
  definition: MessageDefinition<MessageKind, never, Output, unknown>,
  options?: { readonly name?: string | undefined },
) => MethodDecoratorFor<GivenUpHandler<Output, Tx>>;

/** What `decoratorsFor` returns. */
export interface ReceptorDecorators<Tx> {
  readonly Handles: HandlesDecorator<Tx>;
  readonly HandlesBatch: HandlesBatchDecorator<Tx>;
  readonly OnGivenUp: OnGivenUpDecorator<Tx>;
}

/** What a method does with the messages of one definition. */
export interface Role {
  readonly kind: 'message' | 'batch' | 'givenUp';
  readonly method: string | symbol;
  readonly definition: MessageDefinition;
  readonly options: Readonly<Record<string, unknown>>;
}

/** By the prototype of the class, so that other decorators may replace the method. */
const rolesOfClasses = new WeakMap<object, Role[]>();

/** Returns the roles of the methods of an instance, also of those that its class inherits. */
export function rolesOf(prototype: object | null): Role[] {
  if (prototype === null) return [];
  return [...rolesOf(Object.getPrototypeOf(prototype)), ...(rolesOfClasses.get(prototype) ?? [])];
}

function decoratorOf(kind: Role['kind']) {
  return (definition: MessageDefinition, options: Role['options'] = {}) =>
    (target: object, method: string | symbol): void => {
      rolesOfClasses.set(target, [
        ...(rolesOfClasses.get(target) ?? []),
        { kind, method, definition, options },
      ]);
    };
}

const decorators = {
  Handles: decoratorOf('message'),
  HandlesBatch: decoratorOf('batch'),
  OnGivenUp: decoratorOf('givenUp'),
};

/**
 * Returns the decorators for methods whose `ctx.tx` is a transaction of an ORM: `const { Handles, OnGivenUp } =
 * decoratorsFor<Prisma.TransactionClient>()`.
 */
export function decoratorsFor<Tx>(): ReceptorDecorators<Tx> {
  return decorators as unknown as ReceptorDecorators<Tx>;
}

/** Makes a method of a provider the receptor of a message: `@Handles(OrderPlaced)`, with the options of `receptor`. */
export const Handles: HandlesDecorator<Queryable> = decoratorsFor<Queryable>().Handles;

/** Makes a method the receptor of many messages at once: `@HandlesBatch(RowImported, { size: 100 })`. */
export const HandlesBatch: HandlesBatchDecorator<Queryable> = decoratorsFor<Queryable>().HandlesBatch;

/**
 * Makes a method the one that is called when a message is given up that another method of its class handles. When that
 * one has a name, it is named here too.
 */
export const OnGivenUp: OnGivenUpDecorator<Queryable> = decoratorsFor<Queryable>().OnGivenUp;
