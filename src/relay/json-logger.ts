import { inspect } from 'node:util';
import { WhizbangError } from '../errors.js';
import type { Logger } from '../logger.js';
import { type LogLevel, logLevels } from './settings.js';

interface JsonLoggerOptions {
  readonly level: LogLevel;
  /** Applied to every text of a line. */
  readonly mask: (text: string) => string;
  readonly write: (line: string) => void;
}

interface Line {
  readonly time: string;
  readonly level: LogLevel;
  readonly message: string;
}

/** A logger of JSON lines: `{"time": …, "level": …, "message": …}` and the facts. */
export function jsonLogger({ level, mask, write }: JsonLoggerOptions): Logger {
  const at = (of: LogLevel) =>
    logLevels.indexOf(of) < logLevels.indexOf(level)
      ? () => {}
      : (facts: object, message: string) => {
          const line = { time: new Date().toISOString(), level: of, message, ...facts };
          write(`${asJson(line, mask)}\n`);
        };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

function asJson(line: Line, mask: (text: string) => string): string {
  const plain = (_: string, value: unknown): unknown => {
    if (typeof value === 'string') return mask(value);
    if (typeof value === 'bigint') return value.toString();
    if (value instanceof WhizbangError)
      return { code: value.code, message: mask(value.message), hint: mask(value.hint) };
    if (value instanceof Error) return mask(String(value));
    return value;
  };
  try {
    return JSON.stringify(line, plain);
  } catch {
    // A circle: JSON has none.
    const { time, level, message, ...facts } = line;
    return JSON.stringify({ time, level, message: mask(message), facts: mask(inspect(facts)) });
  }
}
