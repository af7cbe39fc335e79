// Checks a perspective when it is made: a mistake would otherwise show only when its table is, or its first model.
import { isStandardSchema, type StandardSchema } from '../messages/index.js';
import { invalidOption, type OptionTable, resolveOptions } from '../options.js';

const columnTypes = ['text', 'int', 'bigint', 'numeric', 'boolean', 'timestamptz', 'uuid', 'jsonb'] as const;

/** The type of a column beside the model. */
export type ColumnType = (typeof columnTypes)[number];

const ownColumns = ['id', 'data', 'version', 'scope', 'updated_at'] as const;

/** The members of a model that may be columns. The others are taken: every table of models has them. */
export type ColumnOf<Model> = Exclude<keyof Model & string, (typeof ownColumns)[number]>;

/** Numbers of the perspectives that keep models. */
const modelNumbers = {
  version: { default: 1, min: 1, max: 1_000_000, unit: 'versions' },
  maxModelBytes: { default: 1_000_000, min: 100, max: 100_000_000, unit: 'bytes' },
} as const satisfies OptionTable;

const customNumbers = { version: modelNumbers.version } as const satisfies OptionTable;

/** What a table of models needs to be made. */
export interface ModelTable {
  readonly name: string;
  readonly version: number;
  readonly schema: StandardSchema;
  readonly columns: Readonly<Record<string, ColumnType>>;
  readonly indexes: readonly (readonly string[])[];
  readonly maxModelBytes: number;
}

/** Resolves what perspectives with models have in common. `others` are the options that the caller reads itself. */
export function resolveModelTable(
  maker: string,
  name: unknown,
  options: unknown,
  others: readonly string[],
): ModelTable {
  const owner = ownerOf(maker, name);
  if (typeof options !== 'object' || options === null) {
    throw invalidOption(owner, 'model', 'there are no options', 'Give at least { model }.');
  }
  const given = options as Readonly<Record<string, unknown>>;
  const known = ['model', 'columns', 'indexes', ...others];
  const numbers = resolveOptions(owner, modelNumbers, given, known);
  if (!isStandardSchema(given.model)) {
    const hint = 'Give a schema of zod, valibot, arktype or another library with Standard Schema.';
    throw invalidOption(owner, 'model', 'model is not a Standard Schema', hint);
  }
  const columns = resolveColumns(owner, given.columns ?? {});
  const indexes = resolveIndexes(owner, given.indexes ?? [], columns);
  return { name: name as string, schema: given.model, columns, indexes, ...numbers };
}

/** Resolves the options of a perspective whose tables are the user's. */
export function resolveCustom(name: unknown, options: object): { name: string; version: number } {
  const owner = ownerOf('perspectiveFor', name);
  return { name: name as string, ...resolveOptions(owner, customNumbers, { ...options }) };
}

const mostLetters = 50;
const identifier = /^[a-z][a-z0-9_]*$/i;

/** Refuses a name that cannot be that of a view and, with its version behind it, of a table. */
function ownerOf(maker: string, name: unknown): string {
  const refuse = (fact: string) =>
    invalidOption(maker, 'name', fact, 'Take letters, digits and underscores, for example "open_orders".');
  if (typeof name !== 'string' || name === '') throw refuse('the name is not a text, or is empty');
  const owner = `${maker}(${JSON.stringify(name)})`;
  if (!identifier.test(name)) throw refuse(`the name ${JSON.stringify(name)} cannot be that of a table`);
  if (name.length > mostLetters) throw refuse(`the name ${name} has more than ${mostLetters} letters`);
  if (/^wh_/i.test(name)) throw refuse(`the name ${name} begins with wh_, as our own tables do`);
  if (/_v\d+$/i.test(name)) throw refuse(`the name ${name} ends as tables of a version do`);
  return owner;
}

function resolveColumns(owner: string, given: unknown): Readonly<Record<string, ColumnType>> {
  const refuse = (fact: string, hint: string) => invalidOption(owner, 'columns', fact, hint);
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw refuse('columns is not an object', 'For example columns: { customer: "text" }.');
  }
  for (const [column, type] of Object.entries(given)) {
    if (!identifier.test(column) || column.length > mostLetters) {
      throw refuse(`${JSON.stringify(column)} cannot be a column`, 'Take letters, digits and underscores.');
    }
    if ((ownColumns as readonly string[]).includes(column.toLowerCase())) {
      throw refuse(`the table has a column ${column} already`, 'Give the member of the model another name.');
    }
    if (!(columnTypes as readonly unknown[]).includes(type)) {
      throw refuse(`the column ${column} has an unknown type`, `Take one of ${columnTypes.join(', ')}.`);
    }
  }
  return Object.freeze({ ...given });
}

function resolveIndexes(
  owner: string,
  given: unknown,
  columns: Readonly<Record<string, ColumnType>>,
): readonly (readonly string[])[] {
  const hint = 'Give lists of columns, for example indexes: [["customer", "status"]].';
  const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);
  if (!isList(given) || !given.every((index) => isList(index) && index.length > 0)) {
    throw invalidOption(owner, 'indexes', 'indexes is not a list of lists of columns', hint);
  }
  const lists = given as readonly (readonly string[])[];
  for (const index of lists) {
    const missing = index.find((column) => !Object.hasOwn(columns, column));
    if (missing !== undefined) {
      throw invalidOption(owner, 'indexes', `there is no column ${String(missing)}`, hint);
    }
    if (new Set(index).size < index.length) {
      throw invalidOption(owner, 'indexes', `an index has a column twice: ${index.join(', ')}`, hint);
    }
  }
  return Object.freeze(lists.map((index) => Object.freeze([...index])));
}
