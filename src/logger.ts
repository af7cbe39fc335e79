// The log of the runtime. It has four methods in pino's shape, so a pino logger fits as
// it is. What is logged never contains a payload, a parameter or a connection string.
import { inspect } from 'node:util';

/**
 * Receives what the runtime logs. A pino logger fits as it is.
 * It never gets a payload, a parameter or a connection string.
 */
export interface Logger {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

const nothing = () => {};

/** The default: warnings and errors go to the console, the rest nowhere. */
export const consoleLogger: Logger = {
  debug: nothing,
  info: nothing,
  warn: (facts, message) => console.warn(`whizbang: ${lineOf(facts, message)}`),
  error: (facts, message) => console.error(`whizbang: ${lineOf(facts, message)}`),
};

/** Formats one line that can be searched for, and the stack of an error in its usual form. */
export function lineOf(facts: object, message: string): string {
  const { error, hint, ...others } = facts as { readonly error?: unknown; readonly hint?: unknown };
  const told = Object.entries(others).map(
    ([name, value]) => ` ${name}=${inspect(value, { breakLength: Infinity })}`,
  );
  const end = error === undefined ? '' : `: ${String(error)}`;
  const advice = hint === undefined ? '' : `${end.includes('\n') ? '\n    ' : ' '}(${String(hint)})`;
  return `${message}${told.join('')}${end}${advice}`;
}

export const silentLogger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing };

/** Whether anybody reads what is logged at the level debug. Only for what is logged for every message. */
export function readsDebug(logger: Logger): boolean {
  const { isLevelEnabled } = logger as { isLevelEnabled?: (level: string) => boolean };
  return logger.debug !== nothing && isLevelEnabled?.call(logger, 'debug') !== false;
}
