// How a database and a schema are named: what users write, checked before PostgreSQL sees it.
import { WhizbangError } from '../errors.js';

/** The schema of who names none: one of its own, which the tools of no ORM look into. */
export const defaultSchema = 'whizbang';

/**
 * Refuses a text that is not a URL. pg accepts any text: it would look for a host called
 * "base" and report that there is none, or fail at each connection, as if the server were away.
 * The text may hold a password, and is not in the error.
 */
export function refuseConnectionString(owner: string, option: string, value: unknown): void {
  if (typeof value === 'string' && /^(postgres(ql)?:\/\/|socket:|\/)/i.test(value) && canBeRead(value))
    return;
  throw new WhizbangError('INVALID_OPTION', {
    message: `${owner}: ${option} is ${typeof value === 'string' ? 'not a URL of PostgreSQL' : `of type ${typeof value}`}.`,
    hint: 'Write postgres://user@host:5432/database, with special characters of the password percent-encoded.',
    details: { option },
  });
}

/** As pg reads it: a path of a socket, or a URL, whose host may be missing behind `@`. */
function canBeRead(text: string): boolean {
  if (text.startsWith('/')) return true;
  const url = [text, text.replace('@/', '@host/')].find((each) => URL.canParse(each));
  if (url === undefined) return false;
  const isEncodedByPg = / |%[^a-f0-9]|%[a-f0-9][^a-f0-9]/i.test(text);
  const { username, password } = new URL(url);
  return isEncodedByPg || [username, password].every(canBeDecoded);
}

function canBeDecoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns `"name"`, for a name that PostgreSQL would keep as it is. */
export function quoteSchema(schema: string): string {
  const fault = faultOf(schema);
  if (fault !== undefined) {
    throw new WhizbangError('INVALID_OPTION', {
      message: `The schema name ${JSON.stringify(schema)} ${fault}.`,
      hint: 'Use the name of a schema as PostgreSQL stores it, without quotes, for example "messaging".',
      details: { option: 'schema', value: schema },
    });
  }
  return `"${schema.replaceAll('"', '""')}"`;
}

function faultOf(schema: string): string | undefined {
  if (typeof schema !== 'string') return 'is not a string';
  if (schema === '') return 'is empty';
  if (schema.includes('\0')) return 'contains a zero character';
  if (Buffer.byteLength(schema) > 63) return 'is longer than 63 bytes, so PostgreSQL would cut it';
  if (schema.startsWith('pg_') || schema === 'information_schema') return 'is reserved by PostgreSQL';
  return undefined;
}
