import type pg from 'pg';

const ours = `(select oid from pg_namespace where nspname = 'whizbang')`;

const questions: Record<string, string> = {
  relations: `select relname::text, relkind::text, reloptions, relacl::text from pg_class where relnamespace = ${ours} order by 1`,
  columns: `
    select c.relname::text, row_number() over (partition by c.oid order by a.attnum)::int as place, a.attname::text,
           format_type(a.atttypid, a.atttypmod) as type, a.attnotnull, a.attidentity::text, a.attgenerated::text,
           a.attcollation::regcollation::text, pg_get_expr(d.adbin, d.adrelid) as "default"
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     where c.relnamespace = ${ours} and c.relkind in ('r', 'v', 'c')
     order by 1, 2`,
  constraints: `
    select conrelid::regclass::text, conname::text, pg_get_constraintdef(oid) as definition
      from pg_constraint where connamespace = ${ours} order by 1, 2`,
  indexes: `select indexname::text, indexdef from pg_indexes where schemaname = 'whizbang' order by 1`,
  triggers: `select tgname::text, pg_get_triggerdef(oid) as definition from pg_trigger where not tgisinternal order by 1`,
  types: `
    select typname::text, typtype::text, typacl::text from pg_type where typnamespace = ${ours} order by 1`,
  functions: `
    select oid::regprocedure::text as name, pg_get_functiondef(oid) as definition, proacl::text
      from pg_proc where pronamespace = ${ours} order by 1`,
  views: `select viewname::text, definition from pg_views where schemaname = 'whizbang' order by 1`,
  sequences: `select sequencename::text, data_type::text, start_value, increment_by from pg_sequences where schemaname = 'whizbang' order by 1`,
};

/** All that the schema `whizbang` of a database is made of, without a row of any table. */
export async function catalogOf(pool: pg.Pool): Promise<Record<string, unknown[]>> {
  const found: Record<string, unknown[]> = {};
  for (const [what, sql] of Object.entries(questions))
    found[what] = (await pool.query(sql)).rows as unknown[];
  return found;
}
