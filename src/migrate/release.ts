import { createHash } from 'node:crypto';
import { packageVersion } from '../version.js';
import { embeddedSql, type SqlFile } from './sql.generated.js';

export type SqlKind = 'migration' | 'type' | 'function' | 'view';

export interface ReleaseFile extends SqlFile {
  readonly kind: SqlKind;
  readonly hash: string;
}

/** Everything one version of this package wants to find in a database, in the order it is applied. */
export interface Release {
  readonly version: string;
  readonly files: readonly ReleaseFile[];
}

export function makeRelease(version: string, sql: typeof embeddedSql): Release {
  const as = (kind: SqlKind) => (file: SqlFile) => ({ ...file, kind, hash: hashOf(file.text) });
  return {
    version,
    files: [
      ...sql.migrations.map(as('migration')),
      ...sql.types.map(as('type')),
      ...sql.functions.map(as('function')),
      ...sql.views.map(as('view')),
    ],
  };
}

export const currentRelease = (): Release => makeRelease(packageVersion, embeddedSql);

// Line ends do not count: a checkout on Windows must not look like an edited migration.
function hashOf(text: string): string {
  return createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex');
}
