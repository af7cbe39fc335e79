// Arguments and options that several commands have in common.
import { InvalidArgumentError, Option } from 'commander';
import type { StreamId } from '../message.js';
import { streamIdOf } from '../messages/index.js';
import { isUuid } from '../uuid.js';

/** How many: a whole number from 1 on. */
export function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It has to be a whole number.');
}

/** A number that something has: a version, a position. */
export function position(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It has to be a whole number.');
}

/** The id of a message or an instance. */
export function uuid(text: string): string {
  if (isUuid(text)) return text.toLowerCase();
  throw new InvalidArgumentError('It has to be a UUID.');
}

/** A stream: its id, or the text that it is made from. */
export const streamArgument = (text: string): StreamId =>
  (isUuid(text) ? text.toLowerCase() : streamIdOf(text)) as StreamId;

export const streamHelp = 'a stream: its id, or the text that it is made from';

export const jsonOption = () => new Option('--json', 'print JSON');
export const whoOption = () =>
  new Option('--who <name>', 'who does it, for the list of operations (default: user@host)');
export const dryRunOption = () => new Option('--dry-run', 'change nothing; tell what it would do');
