import { Option } from 'commander';
import { WhizbangError } from '../errors.js';

/**
 * The option for the database URL. commander's own environment support would print the value as the default
 * in --help.
 */
export function databaseUrlOption(): Option {
  return new Option(
    '--database-url <url>',
    'PostgreSQL to use (default: the environment variable DATABASE_URL)',
  );
}

export function databaseUrl(options: { databaseUrl?: string }): string {
  const url = options.databaseUrl ?? process.env.DATABASE_URL;
  if (url !== undefined && url !== '') return url;
  throw new WhizbangError('INVALID_OPTION', {
    message: 'No database URL was given.',
    hint: 'Give --database-url postgres://user@host/database or set DATABASE_URL.',
    details: { option: '--database-url' },
  });
}
