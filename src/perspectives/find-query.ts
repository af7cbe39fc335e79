// The options of `find`, as wh_find_models takes them.
// In: what a user wrote. Out: one JSON text, or INVALID_OPTION. Values never become part of a statement.
import { Buffer } from 'node:buffer';
import type { FoundRow } from '../coordinator/index.js';
import type { ModelPerspective } from '../fold/index.js';
import { invalidOption, type OptionTable, refuseUnknownKeys, resolveOptions } from '../options.js';

/** Options of `model(p).find`. */
export interface FindOptions<Model, Column extends string> {
  /** Values of columns. A list: any of them. Null: there is none. Default: all models. */
  readonly where?: ByColumn<Column, { readonly [C in Column & keyof Model]?: ValueOf<Model[C]> }> | undefined;
  /** The order, by columns; what has no value comes last. Models that are equal in it are in the order of their ids. */
  readonly orderBy?: ByColumn<Column, { readonly [C in Column]?: 'asc' | 'desc' }> | undefined;
  /** The most models to return. Default: 100. */
  readonly limit?: number | undefined;
  /** The position of the last model of the page before, in the same order. */
  readonly after?: string | undefined;
  /** True: what is there, also while the models are built. Default: false. */
  readonly stale?: boolean | undefined;
}

type ValueOf<T> = T | readonly T[] | null;

/** Nothing, where there are no columns: an object type without members would take any. */
type ByColumn<Column extends string, T> = [Column] extends [never] ? Readonly<Record<string, never>> : T;

const numbers = {
  limit: { default: 100, min: 1, max: 10_000, unit: 'models' },
} as const satisfies OptionTable;

type Order = readonly (readonly [column: string, direction: 'asc' | 'desc'])[];

interface FindQuery {
  readonly json: string;
  /** The position of a row that was found. */
  readonly positionOf: (row: FoundRow) => string;
}

export function findQuery<Model, Column extends string>(
  perspective: ModelPerspective<unknown>,
  options: FindOptions<Model, Column>,
): FindQuery {
  const owner = `model(${perspective.name}).find`;
  const { limit } = resolveOptions(owner, numbers, { ...options }, ['where', 'orderBy', 'after', 'stale']);
  const where = resolveWhere(owner, perspective, options.where ?? {});
  const order = resolveOrder(owner, perspective, options.orderBy ?? {});
  const after = options.after === undefined ? {} : { after: readPosition(owner, order, options.after) };
  return {
    json: JSON.stringify({ where, order, limit, ...after }, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    ),
    positionOf: ({ id, values }) => Buffer.from(JSON.stringify([order, values, id])).toString('base64url'),
  };
}

function resolveWhere(owner: string, { columns }: ModelPerspective<unknown>, where: object): object {
  refuseUnknownKeys(`${owner}: where`, { ...where }, Object.keys(columns));
  for (const [column, value] of Object.entries(where)) {
    if (value !== undefined && typeof value !== 'function' && typeof value !== 'symbol') continue;
    const hint = 'Give a value, a list of values, or null; leave the column out to find all.';
    throw invalidOption(owner, 'where', `where.${column} is ${typeof value}`, hint);
  }
  return where;
}

function resolveOrder(owner: string, { columns }: ModelPerspective<unknown>, orderBy: object): Order {
  refuseUnknownKeys(`${owner}: orderBy`, { ...orderBy }, Object.keys(columns));
  const order = Object.entries(orderBy).filter(([, direction]) => direction !== undefined);
  const wrong = order.find(([, direction]) => direction !== 'asc' && direction !== 'desc');
  if (wrong === undefined) return order as Order;
  const fact = `orderBy.${wrong[0]} is neither asc nor desc`;
  throw invalidOption(owner, 'orderBy', fact, "For example orderBy: { cents: 'desc' }.");
}

function readPosition(owner: string, order: Order, position: unknown): object {
  const refuse = (fact: string) =>
    invalidOption(
      owner,
      'after',
      fact,
      'Give the position of the last model that find returned, with the same orderBy.',
    );
  let read: unknown;
  try {
    read = JSON.parse(Buffer.from(String(position), 'base64url').toString());
  } catch {
    throw refuse('after is not a position');
  }
  if (!Array.isArray(read) || read.length !== 3) throw refuse('after is not a position');
  const [given, values, id] = read as unknown[];
  if (JSON.stringify(given) !== JSON.stringify(order)) throw refuse('after is a position in another order');
  return { values, id };
}
