// The two edges where payloads are checked: before they are stored for sending, and when they have arrived.
// Both look at the same JSON with the same schema, so what passes here passes there.
import { WhizbangError } from '../errors.js';
import type { MessageDefinition } from './definition.js';
import type { MessageKind } from './envelope.js';
import { StandIns, withoutErased } from './erased.js';
import { finish } from './finish.js';
import { invalidMessage, readIssues } from './issues.js';
import { copyAsJson } from './json.js';
import type { SchemaResult } from './standard-schema.js';

type DefinitionOf<Output> = MessageDefinition<MessageKind, never, Output, unknown>;

interface ValidPayload<Output> {
  /** The output of the schema: for the stream rule, and for handlers. */
  readonly payload: Output;
  /** The JSON that is stored and sent. */
  readonly json: unknown;
}

/** Checks a payload before it is stored for sending. Returns a promise only when the schema does. */
export function validatePayload<Output>(
  definition: DefinitionOf<Output>,
  input: unknown,
): ValidPayload<Output> | Promise<ValidPayload<Output>> {
  return finish(validating(definition, input));
}

function* validating<Output>(
  { type, schema }: DefinitionOf<Output>,
  input: unknown,
): Generator<unknown, ValidPayload<Output>, unknown> {
  const copy = copyAsJson(input);
  if (copy.fault !== undefined) throw invalidMessage(type, [copy.fault], { cause: copy.cause });
  if (copy.json === null) throw invalidMessage(type, [{ path: '', message: 'is null' }]);
  const result = (yield schema['~standard'].validate(copy.json)) as SchemaResult<Output>;
  return { payload: validated(result, copy.json, type, {}), json: copy.json };
}

/**
 * Reads a payload that was sent in some version: upcasts it to the current version, then validates it. Returns
 * a promise only when an upcaster or the schema does. Fields that are erased are read as null.
 */
export function readPayload<Output>(
  definition: DefinitionOf<Output>,
  json: unknown,
  schemaVersion: number,
  erased: readonly string[] = [],
): Output | Promise<Output> {
  const steps = erased.length === 0 ? reading : readingErased;
  return finish(steps(definition, json, schemaVersion, erased));
}

/** The same with stand-ins for the erased fields, until upcasters and schema accept them. */
function* readingErased<Output>(
  definition: DefinitionOf<Output>,
  json: unknown,
  schemaVersion: number,
  erased: readonly string[],
): Generator<unknown, Output, unknown> {
  const { fields = [], standIns = {} } = definition.sealed ?? {};
  const search = new StandIns(definition, erased, standIns);
  let first: { readonly error: unknown } | undefined;
  for (;;) {
    try {
      const payload = yield* reading(definition, search.fill(json), schemaVersion);
      search.remember();
      // Today's names of the fields too: an upcaster may have renamed them.
      return withoutErased(payload, [...fields, ...erased]) as Output;
    } catch (error) {
      first ??= { error };
      if (!search.next(error)) throw first.error;
    }
  }
}

/**
 * Refuses an event that could not be read any more once its sealed fields are erased: found out when it is sent, not
 * when the key is gone. `json`: its payload, as it is stored.
 */
export async function refuseLasting(definition: DefinitionOf<unknown>, json: unknown): Promise<void> {
  const { type, sealed, schemaVersion } = definition;
  const fields = sealed?.fields ?? [];
  try {
    await readPayload(definition, json, schemaVersion, fields);
  } catch (cause) {
    throw new WhizbangError('INVALID_OPTION', {
      message: `defineEvent("${type}"): the schema refuses the payload once ${fields.join(', ')} is erased.`,
      hint: 'Let the schema accept null there, or give a value that it accepts: sealed: { standIns: { … } }. Nothing was stored.',
      details: { option: 'sealed.standIns', type, fields },
      cause,
    });
  }
}

/** The steps of a reading. It yields what may be a promise and is resumed with the value of it. */
function* reading<Output>(
  definition: DefinitionOf<Output>,
  json: unknown,
  schemaVersion: number,
): Generator<unknown, Output, unknown> {
  const { type, schema, schemaVersion: current } = definition;
  if (schemaVersion > current) {
    throw new WhizbangError('MESSAGE_TOO_NEW', {
      message: `${type} was sent in version ${schemaVersion}; this code knows it up to version ${current}.`,
      details: { type, schemaVersion, current },
    });
  }
  const upcast = schemaVersion < current ? yield* upcasting(definition, json, schemaVersion) : json;
  const result = (yield schema['~standard'].validate(upcast)) as SchemaResult<Output>;
  return validated(result, upcast, type, { schemaVersion });
}

/** Upcasts step by step, on a copy: an upcaster that changes its input must not change what is retried. */
function* upcasting(
  { type, upcasters, schemaVersion: current }: DefinitionOf<unknown>,
  json: unknown,
  schemaVersion: number,
): Generator<unknown, unknown, unknown> {
  let payload = structuredClone(json);
  for (let from = schemaVersion; from < current; from++) {
    try {
      payload = yield upcasters[from]?.(payload);
    } catch (cause) {
      const issue = { path: '', message: `the upcaster from version ${from} threw an error` };
      throw invalidMessage(type, [issue], { schemaVersion, upcaster: from, cause });
    }
  }
  return payload;
}

/**
 * Validates what a receptor returned, before `invoke` returns it. It is never sent, so it need not be JSON.
 */
export async function validateResult<Result>(
  definition: MessageDefinition<MessageKind, never, unknown, Result>,
  result: unknown,
): Promise<Result | undefined> {
  const { type, resultSchema } = definition;
  if (resultSchema === undefined) return undefined;
  return validated(await resultSchema['~standard'].validate(result), result, `The result of ${type}`, {
    type,
  });
}

/**
 * Checks the result of a receptor before it is sent to who has asked: as JSON, which is what arrives there. Undefined
 * where the command has no result.
 */
export async function jsonResult(definition: MessageDefinition, result: unknown): Promise<unknown> {
  const { type, resultSchema } = definition;
  if (resultSchema === undefined) return undefined;
  const copy = result === undefined ? { json: undefined } : copyAsJson(result);
  if ('fault' in copy && copy.fault !== undefined) {
    throw invalidMessage(`The result of ${type}`, [copy.fault], { type });
  }
  const { json } = copy as { readonly json: unknown };
  await validateResult(definition as DefinitionOf<unknown>, json);
  return json;
}

/** A schema that throws is a fault of the program, not of the message: its error is passed on unchanged. */
function validated<Output>(
  result: SchemaResult<Output>,
  value: unknown,
  type: string,
  details: Readonly<Record<string, unknown>>,
): Output {
  if (result.issues === undefined) return result.value;
  throw invalidMessage(type, readIssues(result.issues, value), details);
}
