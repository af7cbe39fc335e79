import type { Queryable } from '../database/index.js';
import { type DatabaseObject, dropAll, withSignatureOf } from './objects.js';
import type { ReleaseFile, SqlKind } from './release.js';
import { attempt, run } from './run-file.js';

/**
 * Changes the types to what their files have. The files come in an order in which each
 * finds the types that it uses. Types that only get more attributes at their ends stay, and
 * calls that wait for this migration continue with them. Otherwise all are created anew.
 */
export async function changeTypes(
  db: Queryable,
  files: readonly ReleaseFile[],
  ours: readonly DatabaseObject[],
): Promise<void> {
  const present = new Map(ours.filter(({ kind }) => kind === 'type').map((type) => [type.name, type]));
  await db.query('savepoint grow_types');
  for (const file of files) {
    const type = present.get(file.name);
    if (type === undefined) await run(db, file);
    else if (!(await grow(db, type, file))) {
      await db.query('rollback to savepoint grow_types');
      return makeAnew(db, files, ours);
    }
  }
  await db.query('release savepoint grow_types');
}

/**
 * Adds the new attributes to a type. Returns false when the
 * type has anything that the file has not in the same place.
 */
async function grow(db: Queryable, type: DatabaseObject, file: ReleaseFile): Promise<boolean> {
  const text = file.text.replace(/create type \w+/, 'create type wh_as_in_file');
  await run(db, { ...file, text });
  const [has, wants] = [await attributesOf(db, type.identity), await attributesOf(db, 'wh_as_in_file')];
  await db.query('drop type wh_as_in_file');
  if (has.some((attribute, i) => attribute !== wants[i])) return false;
  for (const attribute of wants.slice(has.length)) {
    await db.query(`alter type ${type.identity} add attribute ${attribute}`);
  }
  return true;
}

/** Returns the attributes of a type as they are written in `create type`. */
async function attributesOf(db: Queryable, type: string): Promise<string[]> {
  const { rows } = await db.query(
    `select concat_ws(' ', quote_ident(a.attname), format_type(a.atttypid, a.atttypmod),
              case when a.attcollation <> t.typcollation then 'collate ' || a.attcollation::regcollation end) as attribute
       from pg_attribute a join pg_type t on t.oid = a.atttypid
      where a.attrelid = $1::text::regclass and a.attnum > 0 and not a.attisdropped
      order by a.attnum`,
    [type],
  );
  return (rows as { attribute: string }[]).map(({ attribute }) => attribute);
}

/**
 * Creates the types anew. Our own objects that have them in their signature are dropped
 * first, and are applied again after this. When something else needs them, such as a
 * column of a user's table, PostgreSQL refuses: no object of others is dropped.
 */
async function makeAnew(
  db: Queryable,
  files: readonly ReleaseFile[],
  ours: readonly DatabaseObject[],
): Promise<void> {
  const of = (kind: SqlKind) => ours.filter((object) => object.kind === kind);
  const functions = await withSignatureOf(db, of('function'), of('type'));
  const drop = async () => {
    await dropAll(db, functions);
    await dropAll(db, of('type'));
  };
  if (!(await attempt(db, drop, isNeeded))) {
    await dropAll(db, of('view')); // they may call such functions
    await drop();
  }
  for (const file of files) await run(db, file);
}

const isNeeded = new Set(['2BP01']); // dependent_objects_still_exist
