// One event and one model: what the model is after the event, as it will be stored and as it will be read.
// In: a step of a perspective, a model. Out: the next model with what is announced of it, or FOLD_FAILED.
// Called by model-fold.ts. What it gives to the user's functions is frozen.
import {
  copyAsJson,
  type MessageToSend,
  readIssues,
  type SchemaResult,
  type StandardSchema,
  validatePayload,
} from '../messages/index.js';
import type { Announcer } from './announcer.js';
import { deepFreeze } from './deep-freeze.js';
import { foldFailed, messageOf } from './fold-failed.js';
import { plainCopy } from './plain-copy.js';
import type { StoredEvent } from './stored-event.js';

/** What a perspective says of its models, whatever it is of. */
interface ModelRules {
  readonly name: string;
  readonly schema: StandardSchema;
  readonly maxModelBytes: number;
  readonly announcers: readonly Announcer[];
}

/** A message that a perspective publishes, with the event that changed the model. */
export interface Announcement {
  readonly message: MessageToSend<'event'>;
  readonly event: StoredEvent;
  /** The place of its function among those of the perspective that announce this type. */
  readonly nth: number;
}

/** Steps that yield promises, and only where there is one: `finish` runs them. */
export type Steps<T> = Generator<unknown, T, unknown>;

/** Reads the payload of an event. */
export function* readEvent(
  { name }: Pick<ModelRules, 'name'>,
  { definition }: { readonly definition: Parameters<StoredEvent['read']>[0] },
  event: StoredEvent,
): Steps<unknown> {
  try {
    const payload = event.read(definition);
    return deepFreeze(payload instanceof Promise ? yield payload : payload);
  } catch (cause) {
    const hint = 'Correct the definition of the event: an upcaster, or its schema.';
    throw foldFailed(name, event, { fact: `cannot read it: ${messageOf(cause)}`, hint, cause });
  }
}

/** Calls a function of the user's. Its errors, and what cannot be a model, are errors of the event. */
export function callFor(rules: ModelRules, event: StoredEvent, call: () => unknown): unknown {
  let returned: unknown;
  try {
    returned = call();
  } catch (cause) {
    throw foldFailed(rules.name, event, { fact: `threw ${messageOf(cause)}`, cause });
  }
  if (returned instanceof Promise) {
    returned.catch(() => {});
    const hint = 'Make the function one that returns its value at once.';
    throw foldFailed(rules.name, event, { fact: 'returned a promise', hint });
  }
  return returned;
}

/** A returned model as JSON, not larger than it may be. */
export function asStored(
  { name, maxModelBytes }: ModelRules,
  event: StoredEvent,
  returned: unknown,
): unknown {
  if (returned === undefined || returned === null) {
    const hint = 'Return the next model. To end a model, write .ends(…).';
    throw foldFailed(name, event, { fact: 'returned nothing', hint });
  }
  const plain = plainCopy(returned);
  if (plain !== undefined && plain.mostBytes <= maxModelBytes) return plain.json;
  const copy = copyAsJson(returned);
  if (copy.fault !== undefined) {
    const { path, message } = copy.fault;
    const fact = `returned a model that cannot be stored: ${path || 'it'} ${message}`;
    throw foldFailed(name, event, { fact, path, cause: copy.cause });
  }
  const bytes = Buffer.byteLength(copy.text);
  if (bytes > maxModelBytes) {
    const fact = `returned a model of ${bytes} bytes; ${maxModelBytes} are allowed`;
    throw foldFailed(name, event, { fact, hint: 'Keep less in the model, or raise maxModelBytes.' });
  }
  return deepFreeze(copy.json);
}

/** What the schema makes of a stored model: the model that functions and queries get. */
export function* valueOfModel(
  { name, schema }: ModelRules,
  event: StoredEvent,
  json: unknown,
  which: 'returned' | 'was given',
): Steps<unknown> {
  let result: SchemaResult<unknown>;
  try {
    const validating = schema['~standard'].validate(json);
    result = (validating instanceof Promise ? yield validating : validating) as SchemaResult<unknown>;
  } catch (cause) {
    throw foldFailed(name, event, {
      fact: `${which} a model at which the schema threw ${messageOf(cause)}`,
      cause,
    });
  }
  if (result.issues === undefined) return deepFreeze(result.value);
  const [{ path, message } = { path: '', message: 'is not valid' }] = readIssues(result.issues, json);
  const fact = `${which} a model that does not fit the schema: ${path || 'the model'}: ${message}`;
  const hint =
    which === 'returned'
      ? 'Return what the schema accepts after it was stored as JSON, in which a date is a text: z.coerce.date().'
      : 'The model was stored by other code. Raise the version of the perspective, which builds its models again.';
  throw foldFailed(name, event, { fact, hint, path });
}

/** What is announced of a change. */
export function* announce(
  rules: ModelRules,
  event: StoredEvent,
  value: unknown,
  before: unknown,
): Steps<Announcement[]> {
  const made: Announcement[] = [];
  for (const [i, { definition, make }] of rules.announcers.entries()) {
    const payload = callFor(rules, event, () => make(value, before));
    if (payload === undefined) continue;
    try {
      yield validatePayload(definition, payload);
    } catch (cause) {
      throw foldFailed(rules.name, event, {
        fact: `announced what is not valid: ${messageOf(cause)}`,
        cause,
      });
    }
    const nth = rules.announcers
      .slice(0, i)
      .filter((each) => each.definition.type === definition.type).length;
    made.push({ message: definition(payload as never), event, nth });
  }
  return made;
}
