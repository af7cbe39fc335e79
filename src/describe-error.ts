import { inspect } from 'node:util';
import { WhizbangError } from './errors.js';

const longest = 4_000;

/**
 * Describes an error as text for people: its stack, and those
 * of its causes. What jsonb refuses is removed. Never throws.
 */
export function describeError(error: unknown): string {
  const parts = [describeOne(error)];
  for (let link = causeOf(error), depth = 1; link !== undefined && depth < 5; depth++) {
    parts.push(describeOne(link));
    link = causeOf(link);
  }
  const text = parts.join('\ncaused by ').replaceAll('\0', '');
  return (text.length > longest ? `${text.slice(0, longest)} …` : text).toWellFormed();
}

/** Describes an error in one line: what it says, and what its causes say. Never throws. */
export function describeBriefly(error: unknown): string {
  return describeError(error)
    .split('\n')
    .filter((line) => !/^\s+at /.test(line))
    .join(' ');
}

/**
 * Describes one thrown value. It may be anything: undefined, or a value
 * without a text. A failure that cannot be described is still one.
 */
function describeOne(thrown: unknown): string {
  try {
    if (thrown instanceof Error) {
      const text = String(thrown.stack ?? `${thrown.name}: ${thrown.message}`);
      return 'code' in thrown && typeof thrown.code === 'string' ? `${text}\n    code: ${thrown.code}` : text;
    }
    if (typeof thrown === 'object' && thrown !== null) return `an object was thrown: ${inspect(thrown)}`;
    return thrown === undefined ? 'undefined was thrown instead of an error' : String(thrown);
  } catch {
    return 'the thrown value cannot be shown';
  }
}

/**
 * Makes an error of its description: with its name, message and code.
 * The stack is the description. What was thrown instead of an error becomes the message.
 */
export function describedError(text: string): Error & { readonly code?: string } {
  const [head = ''] = text.split(/\n {4}(?:at |code: )|\ncaused by /, 1);
  const [own = ''] = text.split('\ncaused by ', 1);
  const named = own === head ? null : /^([\w$]+)(?: \[\w+\])?: ([\s\S]*)$/.exec(head);
  const error = new Error(named?.[2] ?? head);
  const code = /\n {4}code: (\S+)/.exec(own)?.[1];
  Object.defineProperty(error, 'stack', { value: text, configurable: true, writable: true });
  Object.defineProperty(error, 'name', { value: named?.[1] ?? 'Error', configurable: true, writable: true });
  return code === undefined ? error : Object.assign(error, { code });
}

function causeOf(error: unknown): unknown {
  try {
    return error instanceof Error ? error.cause : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The facts of an outage for a log: what happened and what
 * to do. The place where it was noticed does not help.
 */
export function outageFacts(error: unknown): object {
  if (!(error instanceof WhizbangError)) return { error: describeOne(error).split('\n', 1)[0] };
  const { code, hint, message } = error;
  return { code, hint, error: message };
}
