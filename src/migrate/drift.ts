// Where a schema differs from what the release made: somebody dropped an index, replaced a function, disabled a trigger.
// In: a session that is not inside a transaction, the schema, the release. Out: each difference with the statement that repairs it.
// Called by the doctor. The release is made in a scratch schema, compared, and rolled back: nothing is changed, nobody waits.
import { randomUUID } from 'node:crypto';
import { type Queryable, quoteSchema } from '../database/index.js';
import { createLedger } from './ledger.js';
import type { Release } from './release.js';
import { run } from './run-file.js';

interface Drift {
  readonly kind: 'column' | 'constraint' | 'function' | 'index' | 'trigger' | 'view';
  /** `wh_outbox.status`, `wh_beat(…)`, … */
  readonly name: string;
  readonly difference: 'missing' | 'changed' | 'disabled';
  /** The statement that repairs it. */
  readonly remedy: string;
}

interface CatalogueRow {
  readonly kind: Drift['kind'];
  readonly name: string;
  readonly definition: string;
  /** The statement that makes it. */
  readonly making: string;
  /** The statement that brings a changed one back. */
  readonly mending: string;
}

export async function readDrift(db: Queryable, schema: string, release: Release): Promise<Drift[]> {
  const scratch = `wh_scratch_${randomUUID().replaceAll('-', '')}`;
  await db.query('begin');
  try {
    await db.query('set local client_min_messages = warning; set local check_function_bodies = off');
    await db.query(`create schema ${scratch}; set local search_path = ${scratch}, pg_temp`);
    await createLedger(db);
    for (const file of release.files) await run(db, file);
    // Without a path every name is written with its schema.
    await db.query(`set local search_path = ''`);
    const expected = await readCatalogue(db, scratch);
    const actual = new Map((await readCatalogue(db, schema)).map((row) => [keyOf(row), row]));
    return expected
      .map((row) => under(row, scratch, schema))
      .flatMap((row) => differenceOf(row, actual.get(keyOf(row))));
  } finally {
    await db.query('rollback');
  }
}

const keyOf = ({ kind, name }: CatalogueRow) => `${kind} ${name}`;

/** The same row as it has to look in the other schema. */
function under(row: CatalogueRow, scratch: string, schema: string): CatalogueRow {
  const literal = (text: string) => text.replaceAll("'", "''");
  const name = /^[a-z_][a-z0-9_$]*$/.test(schema) ? schema : quoteSchema(schema);
  const rename = (text: string) =>
    text
      .replaceAll(`'${scratch}'`, `'${literal(schema)}'`)
      .replaceAll(`'${scratch}.`, `'${literal(name)}.`)
      .replaceAll(scratch, name);
  return {
    ...row,
    name: rename(row.name),
    definition: rename(row.definition),
    making: rename(row.making),
    mending: rename(row.mending),
  };
}

function differenceOf(expected: CatalogueRow, actual: CatalogueRow | undefined): Drift[] {
  const { kind, name, definition, making, mending } = expected;
  if (actual === undefined) return [{ kind, name, difference: 'missing', remedy: making }];
  if (actual.definition === definition) return [];
  const isDisabled = kind === 'trigger' && actual.definition.startsWith('D ');
  return [{ kind, name, difference: isDisabled ? 'disabled' : 'changed', remedy: mending }];
}

async function readCatalogue(db: Queryable, schema: string): Promise<CatalogueRow[]> {
  const { rows } = await db.query(
    `with tables as (
       select c.oid, c.oid::regclass::text as name from pg_class c
       where c.relnamespace = (select oid from pg_namespace where nspname = $1) and c.relkind = 'r' and c.relname like 'wh\\_%'
     )
     select 'column' as kind, t.name || '.' || quote_ident(a.attname) as name,
            concat_ws(' ', format_type(a.atttypid, a.atttypmod), case when a.attnotnull then 'not null' end,
              'default ' || pg_get_expr(d.adbin, d.adrelid), a.attidentity, a.attgenerated) as definition,
            format('alter table %s add column %I %s', t.name, a.attname, format_type(a.atttypid, a.atttypmod))
              || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '') || ';' as making,
            -- A type that is as it was is not named: a view that uses the column would refuse it.
            format('alter table %s alter column %I %s not null', t.name, a.attname, case when a.attnotnull then 'set' else 'drop' end)
              || case when a.attidentity <> '' or a.attgenerated <> '' then ''
                 else format(', alter column %I %s', a.attname, coalesce('set default ' || pg_get_expr(d.adbin, d.adrelid), 'drop default')) end
              || ';' as mending
       from tables t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
       left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
     union all
     select 'constraint', format('%s.%I', t.name, c.conname), pg_get_constraintdef(c.oid),
            format('alter table %s add constraint %I %s;', t.name, c.conname, pg_get_constraintdef(c.oid)),
            format('alter table %s drop constraint %I, add constraint %2$I %s;', t.name, c.conname, pg_get_constraintdef(c.oid))
       from tables t join pg_constraint c on c.conrelid = t.oid where c.contype <> 'n'
     union all
     select 'index', i.indexrelid::regclass::text, case when i.indisvalid then '' else 'invalid ' end || pg_get_indexdef(i.indexrelid),
            pg_get_indexdef(i.indexrelid) || ';',
            format('drop index %s; %s;', i.indexrelid::regclass, pg_get_indexdef(i.indexrelid))
       from tables t join pg_index i on i.indrelid = t.oid
       where not exists (select from pg_constraint c where c.conindid = i.indexrelid)
     union all
     select 'trigger', format('%s.%I', t.name, g.tgname), g.tgenabled::text || ' ' || pg_get_triggerdef(g.oid), pg_get_triggerdef(g.oid) || ';',
            format('drop trigger %I on %s; %s; alter table %2$s enable trigger %1$I;', g.tgname, t.name, pg_get_triggerdef(g.oid))
       from tables t join pg_trigger g on g.tgrelid = t.oid where not g.tgisinternal
     union all
     select 'function', p.oid::regprocedure::text, pg_get_functiondef(p.oid), pg_get_functiondef(p.oid) || ';', pg_get_functiondef(p.oid) || ';'
       from pg_proc p
       where p.pronamespace = (select oid from pg_namespace where nspname = $1) and p.prokind = 'f'
     union all
     select 'view', c.oid::regclass::text, pg_get_viewdef(c.oid), format('create view %s as %s', c.oid::regclass, pg_get_viewdef(c.oid)),
            format('drop view %s; create view %1$s as %s', c.oid::regclass, pg_get_viewdef(c.oid))
       from pg_class c
       where c.relnamespace = (select oid from pg_namespace where nspname = $1) and c.relkind = 'v'
     order by 1, 2`,
    [schema],
  );
  return rows as CatalogueRow[];
}
