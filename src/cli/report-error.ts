import { WhizbangError } from '../errors.js';

/** Prints two lines to stderr: `CODE: message` and what to do. An unexpected error is printed in full. */
export function reportError(error: unknown): void {
  const text =
    error instanceof WhizbangError
      ? `${error.code}: ${error.message}\n${error.hint}`
      : error instanceof Error
        ? (error.stack ?? error.message)
        : String(error);
  console.error(withoutPasswords(text));
}

/** Removes all text between the user's name and the host of a URL, also when the password holds an `@`. */
export function withoutPasswords(text: string): string {
  return text.replaceAll(/(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@]*):\S*@/gi, '$1:***@');
}
