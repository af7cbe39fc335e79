// Checks a definition when it is made: a mistake would otherwise show only with the first message.
import type { WhizbangError } from '../errors.js';
import { definitionOptions, invalidOption, refuseUnknownKeys, resolveOptions } from '../options.js';
import type { Upcaster } from './definition.js';
import type { MessageKind } from './envelope.js';
import type { Sealing } from './sealing.js';
import { isStandardSchema, type StandardSchema } from './standard-schema.js';

export interface GivenDefinition {
  readonly schema: StandardSchema;
  readonly result: StandardSchema | undefined;
  readonly stream: ((payload: unknown) => unknown) | undefined;
  readonly address: string | undefined;
  readonly formerly: readonly string[];
  readonly aggregate: string | undefined;
  readonly sealed: Sealing | undefined;
  readonly version: number;
  readonly upcast: Readonly<Record<number, Upcaster>>;
}

const makers = { event: 'defineEvent', command: 'defineCommand' } as const;
const eventOptions = ['topic', 'formerly', 'aggregate', 'sealed'];
const addressOption = { event: 'topic', command: 'to' } as const;

export function resolveDefinition(kind: MessageKind, type: unknown, options: object): GivenDefinition {
  if (!isName(type)) {
    throw invalidOption(
      makers[kind],
      'type',
      `the type is not a text, is empty, or is longer than ${longestName} bytes`,
      'Give the type a name, such as OrderPlaced.',
    );
  }
  const owner = `${makers[kind]}(${JSON.stringify(type)})`;
  if (typeof options !== 'object' || options === null) {
    throw invalidOption(owner, 'schema', 'there are no options', 'Give at least { schema }.');
  }
  const given = options as Readonly<Record<string, unknown>>;
  const others = ['schema', 'stream', 'upcast', ...(kind === 'event' ? eventOptions : ['to', 'result'])];
  const { version } = resolveOptions(owner, definitionOptions, given, others);
  const address = given[addressOption[kind]];

  if (!isStandardSchema(given.schema)) throw noSchema(owner, 'schema');
  if (given.result !== undefined && !isStandardSchema(given.result)) throw noSchema(owner, 'result');
  if (given.stream !== undefined && typeof given.stream !== 'function') {
    throw invalidOption(
      owner,
      'stream',
      'stream is not a function',
      'For example stream: (order) => order.id.',
    );
  }
  if (address !== undefined && !isName(address)) {
    const option = addressOption[kind];
    throw invalidOption(
      owner,
      option,
      `${option} is not a text, or is empty`,
      `Give a text that is not empty, or leave ${option} out.`,
    );
  }
  const { formerly = [], aggregate } = given;
  if (!Array.isArray(formerly) || !formerly.every((name) => isName(name) && name !== type)) {
    throw invalidOption(
      owner,
      'formerly',
      'formerly is not a list of other names',
      'Give the earlier names of the type, for example formerly: ["OrderSettled"].',
    );
  }
  if (aggregate !== undefined && !isName(aggregate)) {
    throw invalidOption(owner, 'aggregate', 'aggregate is not a name', 'For example aggregate: "Order".');
  }
  return {
    schema: given.schema,
    result: given.result,
    stream: given.stream as GivenDefinition['stream'],
    formerly: formerly as readonly string[],
    aggregate,
    address: address ?? (kind === 'event' ? type : undefined),
    sealed: given.sealed === undefined ? undefined : resolveSealing(owner, given.sealed),
    version,
    upcast: resolveUpcasters(owner, version, given.upcast ?? {}),
  };
}

const sealingUsage = 'For example sealed: { subject: (order) => order.customerId, fields: ["email"] }.';

function resolveSealing(owner: string, given: unknown): Sealing {
  const refuse = (isWrong: boolean, option: string, fact: string) => {
    if (isWrong) throw invalidOption(owner, option, fact, sealingUsage);
  };
  refuse(typeof given !== 'object' || given === null, 'sealed', 'sealed is not an object');
  const { subject, fields, standIns = {} } = given as Partial<Sealing>;
  refuseUnknownKeys(`${owner}: sealed`, { ...(given as object) }, ['subject', 'fields', 'standIns']);
  refuse(typeof subject !== 'function', 'sealed.subject', 'sealed.subject is not a function');
  const areNames = Array.isArray(fields) && fields.length > 0 && fields.every(isName);
  refuse(!areNames, 'sealed.fields', 'sealed.fields is not a list of names of fields');
  refuse(typeof standIns !== 'object', 'sealed.standIns', 'sealed.standIns is not an object');
  const stray = Object.keys(standIns).find((field) => fields?.includes(field) !== true);
  refuse(stray !== undefined, 'sealed.standIns', `sealed.standIns has ${stray}, which is not a sealed field`);
  return Object.freeze({ subject, fields: Object.freeze([...new Set(fields)]), standIns }) as Sealing;
}

/**
 * Checks that there is an upcaster for every version below the current one, and no other. A gap would make
 * the messages of that version unreadable.
 */
function resolveUpcasters(
  owner: string,
  version: number,
  given: unknown,
): Readonly<Record<number, Upcaster>> {
  const steps = given as Readonly<Record<string, unknown>>;
  for (let from = 1; from < version; from++) {
    if (typeof steps[from] === 'function') continue;
    const hint = `Add upcast: { ${from}: (old) => … }, which turns a payload of version ${from} into one of version ${from + 1}.`;
    throw invalidOption(owner, 'upcast', `there is no upcaster from version ${from}`, hint);
  }
  const unused = Object.keys(steps).find((key) => !/^[1-9]\d*$/.test(key) || Number(key) >= version);
  if (unused !== undefined) {
    const hint = `The version is ${version}, so upcasters go from 1 to ${version - 1}. Remove this one, or raise version.`;
    throw invalidOption(owner, 'upcast', `the upcaster ${unused} is never used`, hint);
  }
  return steps as Readonly<Record<number, Upcaster>>;
}

/** No name is longer, in bytes: an index of PostgreSQL takes 2704 of them, and has more in it than the name. */
export const longestName = 1000;

/** Whether the value is a valid name. PostgreSQL's text cannot hold a zero character. */
export function isName(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '' && !value.includes('\0') && !isTooLong(value);
}

export function isTooLong(name: string): boolean {
  return Buffer.byteLength(name) > longestName;
}

function noSchema(owner: string, option: string): WhizbangError {
  const hint = 'Give a schema of zod, valibot, arktype or another library with Standard Schema.';
  return invalidOption(owner, option, `${option} is not a Standard Schema`, hint);
}
