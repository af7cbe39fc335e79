// What a request names, checked before it is used. All of it is bound as a parameter later: this is for the answer, not for safety
// alone, and the name of a schema is only ever one of the list.
import { streamIdOf } from '../messages/index.js';
import type { Pausable } from '../operate/index.js';
import { isUuid } from '../uuid.js';
import { Refusal } from './answers.js';

export function schemaOf(schemas: readonly string[], given: unknown): string {
  if (given === undefined || given === null || given === '') return schemas[0] as string;
  const found = schemas.find((each) => each === given);
  if (found === undefined) throw new Refusal(404, 'The page does not show that schema.');
  return found;
}

export function idOf(given: unknown, name: string): string {
  if (isUuid(given)) return given;
  throw new Refusal(400, `${name} is not an id: a UUID is expected.`);
}

/** The id of a stream, or the text that it is made from. */
export function streamOf(given: unknown, name: string): string {
  const text = textOf(given, name);
  return isUuid(text) ? text : (streamIdOf(text) as string);
}

export function textOf(given: unknown, name: string): string {
  if (typeof given !== 'string' || given === '' || given.length > 1_000 || given.includes('\0'))
    throw new Refusal(400, `${name} has to be a text of 1 to 1000 characters.`);
  return given;
}

/** What is to be paused or resumed: `type`, `stream`, or `intake: true`; one of them. */
export function pausableOf({ type, stream, intake }: Readonly<Record<string, unknown>>): Pausable {
  const given = [type, stream, intake].filter((each) => each !== undefined);
  if (given.length !== 1 || (intake !== undefined && intake !== true))
    throw new Refusal(400, 'Say which: type, stream or intake: true, and one of them.');
  if (type !== undefined) return { type: textOf(type, 'type') };
  return stream === undefined ? 'intake' : { streamId: streamOf(stream, 'stream') };
}

/** Why something is done: a text, or nothing. */
export function reasonOf(given: unknown): string | undefined {
  return given === undefined || given === null || given === '' ? undefined : textOf(given, 'reason');
}

export function oneOf<T extends string>(given: unknown, name: string, known: readonly T[]): T | undefined {
  if (given === null || given === '') return undefined;
  const found = known.find((each) => each === given);
  if (found === undefined) throw new Refusal(400, `${name} has to be one of ${known.join(', ')}.`);
  return found;
}

export function wholeNumber(given: string | null, name: string, most: number): number | undefined {
  if (given === null || given === '') return undefined;
  const value = /^\d{1,15}$/.test(given) ? Number(given) : 0;
  if (value < 1 || value > most)
    throw new Refusal(400, `${name} has to be a whole number from 1 to ${most}.`);
  return value;
}
