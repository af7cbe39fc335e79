import { type Queryable, quoteSchema } from '../database/index.js';
import { oneRow } from './functions.js';

/** What a role can find out about a schema that is to receive, from the catalogue alone. */
export interface ReceiverFacts {
  readonly version: string;
  readonly role: string;
  readonly readOnly: boolean;
  readonly hasSchema: boolean;
  readonly mayUse: boolean;
  /** Those of the two functions that are missing. */
  readonly missing: readonly string[];
  /** Those of the two functions that the role may not execute. */
  readonly denied: readonly string[];
}

/** Looks whether this session could deliver to a schema. The schema is given without quotes. */
export async function receiverFacts(db: Queryable, schema: string): Promise<ReceiverFacts> {
  const text = `
    with needed(name, argument) as (values ('wh_receive', 'jsonb'::regtype), ('wh_listens', 'text[]'::regtype)),
    found as (
      select e.name, p.oid
      from needed e
      left join pg_proc p on p.proname = e.name and p.pronargs = 1 and p.proargtypes[0] = e.argument and p.prosecdef
        and p.pronamespace = (select n.oid from pg_namespace n where n.nspname = $1)
    )
    select json_build_object(
      'version', version(), 'role', current_user, 'readOnly', current_setting('transaction_read_only') = 'on',
      'hasSchema', exists (select from pg_namespace n where n.nspname = $1),
      'mayUse', exists (select from pg_namespace n where n.nspname = $1 and has_schema_privilege(n.oid, 'usage')),
      'missing', (select coalesce(json_agg(f.name), '[]') from found f where f.oid is null),
      'denied', (select coalesce(json_agg(f.name), '[]') from found f where not has_function_privilege(f.oid, 'execute'))
    )::text as facts`;
  return JSON.parse((await oneRow<{ facts: string }>(db, text, [schema])).facts) as ReceiverFacts;
}

/** The statements after which the role may deliver to the schema. */
export function grantsToDeliver(schema: string, role: string): readonly string[] {
  const [quoted, to] = [quoteSchema(schema), `"${role.replaceAll('"', '""')}"`];
  return [
    `grant usage on schema ${quoted} to ${to};`,
    `grant execute on function ${quoted}.wh_receive(jsonb), ${quoted}.wh_listens(text[]) to ${to};`,
  ];
}

/** A message in the shape that wh_receive takes. */
export interface ReceivedRow {
  readonly message_id: string;
  readonly destination: string;
  readonly event_type: string;
  readonly event_data: unknown;
  readonly metadata: unknown;
  readonly scope: unknown;
  readonly stream_id: string | null;
}

/**
 * Delivers messages to a schema in one statement, unless the schema listens to one of these addresses that is not among
 * the expected ones: then nothing is delivered. Returns which of the addresses it listens to, and whether it has the
 * messages.
 */
export async function deliver(
  db: Queryable,
  schema: string,
  addresses: readonly string[],
  expected: readonly string[],
  messages: readonly ReceivedRow[],
): Promise<{ readonly heard: readonly string[]; readonly isDone: boolean }> {
  const text = `
    with heard as materialized (
      select ${schema}.wh_listens(array(select jsonb_array_elements_text($1::text::jsonb))) as addresses
    )
    select to_json(h.addresses)::text as heard,
      case when h.addresses <@ array(select jsonb_array_elements_text($2::text::jsonb))
        then ${schema}.wh_receive($3::text::jsonb) end is not null as is_done
    from heard h`;
  const values = [addresses, expected, messages].map((each) => JSON.stringify(each));
  const { heard, is_done } = await oneRow<{ heard: string; is_done: boolean }>(db, text, values);
  return { heard: JSON.parse(heard) as string[], isDone: is_done };
}

/**
 * Returns the other schemas of this database to which this role could deliver, and whether each listens to the address.
 * The schema is given without quotes.
 */
export async function neighbours(
  db: Queryable,
  schema: string,
  address: string,
): Promise<readonly { readonly schema: string; readonly listens: boolean }[]> {
  const text = `
    select r.schema::text as name from ${quoteSchema(schema)}.wh_receivers() r where r.can_say and r.schema <> $1`;
  const names = (await db.query(text, [schema])).rows as { name: string }[];
  const found: { schema: string; listens: boolean }[] = [];
  for (const { name } of names) {
    const question = `select cardinality(${quoteSchema(name)}.wh_listens(array[$1::text])) > 0 as listens`;
    found.push({ schema: name, ...(await oneRow<{ listens: boolean }>(db, question, [address])) });
  }
  return found;
}

/**
 * Returns those of these addresses that no schema of this database listens to. None, if there is a schema that this role
 * could deliver to and cannot ask.
 */
export async function unheardAddresses(
  db: Queryable,
  schema: string,
  addresses: readonly string[],
): Promise<readonly string[]> {
  const text = `select r.schema::text as name, r.can_say as "canSay" from ${schema}.wh_receivers() r`;
  const receivers = (await db.query(text)).rows as { name: string; canSay: boolean }[];
  if (receivers.some(({ canSay }) => !canSay)) return [];
  let unheard = addresses;
  for (const { name } of receivers) {
    const question = `
      select to_json(${quoteSchema(name)}.wh_listens(array(select jsonb_array_elements_text($1::text::jsonb))))::text as heard`;
    const { heard } = await oneRow<{ heard: string }>(db, question, [JSON.stringify(unheard)]);
    const found = JSON.parse(heard) as string[];
    unheard = unheard.filter((address) => !found.includes(address));
    if (unheard.length === 0) return [];
  }
  return unheard;
}
