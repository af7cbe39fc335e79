import { CommanderError } from 'commander';
import { WhizbangError } from '../errors.js';
import { withoutPasswords } from '../without-passwords.js';
import { plainText } from './plain-text.js';

/** Prints two lines to stderr: `CODE: message` and what to do. An unexpected error is printed in full. Nothing that a terminal obeys is. */
export function reportError(error: unknown): void {
  const text =
    error instanceof WhizbangError
      ? `${error.code}: ${error.message}\n${error.hint}`
      : error instanceof CommanderError
        ? `error: ${error.message}`
        : error instanceof Error
          ? (error.stack ?? error.message)
          : String(error);
  console.error(withoutPasswords(text).split('\n').map(plainText).join('\n'));
}
