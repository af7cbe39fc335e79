// A migration that is run, noted down and rolled back: what it does depends on what the database has, as PostgreSQL alone knows.
import pg from 'pg';
import type { Queryable } from '../database/index.js';

const onlyReads = /^\s*(select(?! pg_advisory_xact_lock)|savepoint|release|rollback|begin|commit)\b/i;

/** Notes the statements of a session that change something, without those that were rolled back. */
export class Rehearsal implements Queryable {
  readonly #db: Queryable;
  #statements: string[] = [];
  readonly #savepoints = new Map<string, number>();

  constructor(db: Queryable) {
    this.#db = db;
  }

  async query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }> {
    const result = await this.#db.query(text, values);
    const [, action, name = ''] = /^\s*(savepoint|rollback to savepoint) (\w+)/.exec(text) ?? [];
    if (action === 'savepoint') this.#savepoints.set(name, this.#statements.length);
    else if (action !== undefined) this.#statements.length = this.#savepoints.get(name) ?? 0;
    else if (!onlyReads.test(text)) this.#statements.push(withLiterals(text, values));
    return result;
  }

  /** One transaction, to be run as it is, by psql for example. */
  script(): string | undefined {
    if (this.#statements.length === 0) return undefined;
    const statements = this.#statements.map((text) => `${text.trim().replace(/;$/, '')};`);
    return ['begin isolation level read committed;', ...statements, 'commit;', ''].join('\n\n');
  }
}

function withLiterals(text: string, values: readonly unknown[] = []): string {
  if (values.length === 0) return text;
  const literal = (value: unknown): string =>
    Array.isArray(value)
      ? `array[${value.map(literal).join(', ')}]::text[]`
      : pg.escapeLiteral(String(value));
  return text.replaceAll(/\$(\d+)/g, (_, place: string) => literal(values[Number(place) - 1]));
}
