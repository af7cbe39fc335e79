/**
 * The rows of a result, which is an array of them or has them as `rows`. Settings such as `postgres.camel`,
 * or a `postProcessResponse` of Knex, rename the columns of every statement, also of ours. This restores
 * their names.
 */
export function rowsOf(result: unknown): { rows: unknown[] } {
  const rows = Array.isArray(result) ? result : ((result as { rows?: unknown[] } | undefined)?.rows ?? []);
  const names = Object.keys((rows[0] as object | undefined) ?? {});
  return { rows: names.some((name) => renamed.test(name)) ? rows.map(withOwnNames) : rows };
}

const renamed = /[A-Z-]/;

function withOwnNames(row: unknown): unknown {
  return Object.fromEntries(Object.entries(row as object).map(([name, value]) => [snake(name), value]));
}

function snake(name: string): string {
  return name.replace(/-|(?<!^)(?=[A-Z])/g, '_').toLowerCase();
}
