// The functions of sql/functions that are called beside process_work_batch.
// For each there is one small function here, named after it.
// In: something that runs a statement, the schema in quotes, the parameters. Out: the answer as a value.
// Called by every part that needs one. They never borrow a connection, wait with a limit or retry.
import type { Queryable } from '../database/index.js';
import type { MessageId } from '../message.js';
import type { Instance } from './request.js';

/** Frees what the instance holds. Returns how many streams were released. */
export async function deregisterInstance(db: Queryable, schema: string, instanceId: string): Promise<number> {
  const text = `select ${schema}.deregister_instance(p_instance_id => $1::uuid)::text as released`;
  const { released } = await oneRow<{ released: string }>(db, text, [instanceId]);
  return Number(released);
}

/**
 * Joins the service of the schema. A schema has one service: this fails when
 * an instance of another service runs in it, also when both start at once.
 */
export async function joinService(db: Queryable, schema: string, instanceId: string): Promise<void> {
  await db.query(`select ${schema}.wh_join_service(p_instance_id => $1::uuid)`, [instanceId]);
}

/** Subscribes the service to what is sent to these addresses. */
export async function subscribe(
  db: Queryable,
  schema: string,
  instanceId: string,
  addresses: readonly string[],
): Promise<void> {
  const text = `
    select ${schema}.wh_subscribe(
      p_instance_id => $1::uuid,
      p_addresses => array(select jsonb_array_elements_text($2::text::jsonb)))`;
  await db.query(text, [instanceId, JSON.stringify(addresses)]);
}

/** The result for an outbox message that was to be transferred. `error` is JSON, for one that failed. */
export interface TransferRow {
  readonly message_id: MessageId;
  readonly outcome: 'settled' | 'lost' | 'failed' | 'held-back';
  readonly error?: string | null;
}

/** Transfers all messages in one step, or none. Rejects when one of the receivers fails. */
export function transfer(
  db: Queryable,
  schema: string,
  instance: Instance,
  messageIds: readonly MessageId[],
): Promise<readonly TransferRow[]> {
  const columns = `message_id::text, case when settled then 'settled' else 'lost' end as outcome`;
  return transferBy(db, `select ${columns} from ${schema}.wh_transfer`, instance, messageIds);
}

/**
 * Transfers to each receiver separately. When one fails, only the messages for which it failed are held up.
 */
export function transferEach(
  db: Queryable,
  schema: string,
  instance: Instance,
  messageIds: readonly MessageId[],
): Promise<readonly TransferRow[]> {
  const columns = 'message_id::text, outcome, error';
  return transferBy(db, `select ${columns} from ${schema}.wh_transfer_each`, instance, messageIds);
}

async function transferBy(
  db: Queryable,
  selectFrom: string,
  { instanceId, serviceName, hostName, processId }: Instance,
  messageIds: readonly MessageId[],
): Promise<readonly TransferRow[]> {
  const text = `${selectFrom}(
    p_instance_id => $1::uuid, p_service_name => $2::text, p_host_name => $3::text, p_process_id => $4::int,
    p_message_ids => $5::text::uuid[])`;
  const values = [instanceId, serviceName, hostName, processId, `{${messageIds.join(',')}}`];
  return (await db.query(text, values)).rows as readonly TransferRow[];
}

/** The lease of a receiver as it was seen. Fence and beat are decimal numbers. */
export interface SeenLease {
  readonly fence: string;
  readonly beat: string;
}

/** Takes or renews the lease of a receiver. `seen`: it was like this for the whole time of the lease. */
export async function holdReceiver(
  db: Queryable,
  schema: string,
  name: string,
  holder: string,
  seen?: SeenLease,
): Promise<SeenLease & { readonly isHeld: boolean }> {
  const text = `
    select (l ->> 'is_held')::boolean as "isHeld", l ->> 'fence' as fence, l ->> 'beat' as beat
    from ${schema}.wh_hold_receiver($1::text, $2::uuid, $3::text::bigint, $4::text::bigint) l`;
  return oneRow(db, text, [name, holder, seen?.fence ?? null, seen?.beat ?? null]);
}

/** Gives back the lease of a receiver. */
export async function leaveReceiver(
  db: Queryable,
  schema: string,
  name: string,
  holder: string,
): Promise<void> {
  await db.query(`select ${schema}.wh_leave_receiver($1::text, $2::uuid)`, [name, holder]);
}

/** What one of several receptors has reported on a message. */
export interface ReceptorRecord {
  readonly name: string;
  /** It need not run again. */
  readonly isDone: boolean;
  readonly isGivenUp: boolean;
  /** How many attempts have failed. */
  readonly attempts: number;
  /** How long it still has to wait after a failure. Zero or less: it is due. */
  readonly waitSeconds: number;
  /** The last failure. */
  readonly error: string;
}

/** Returns what the receptors of a message have reported. Those that have not run yet are not among them. */
export async function receptorRecords(
  db: Queryable,
  schema: string,
  messageId: MessageId,
): Promise<readonly ReceptorRecord[]> {
  const columns = `receptor_name as name, is_done as "isDone", is_given_up as "isGivenUp", attempts,
    coalesce(wait_seconds, 0) as "waitSeconds", coalesce(error, '') as error`;
  const text = `
    select coalesce(json_agg(r), '[]')::text as records
    from (select ${columns} from ${schema}.wh_receptor_records($1::uuid)) r`;
  const { records } = await oneRow<{ records: string }>(db, text, [messageId]);
  return JSON.parse(records) as ReceptorRecord[];
}

/**
 * Counts that the previous holder of the message died or stalled,
 * perhaps while running it. Returns how often that has happened.
 */
export async function countInterruption(
  db: Queryable,
  schema: string,
  messageId: MessageId,
): Promise<number> {
  const text = `select ${schema}.wh_count_interruption($1::uuid)::text as interruptions`;
  // Null, and so 0, when another holder has finished it
  // meanwhile: then the completion of this one is refused.
  return Number((await oneRow<{ interruptions: string | null }>(db, text, [messageId])).interruptions);
}

/** The last failure of a message. */
export interface LastFailure {
  readonly error: string;
  /** How long ago it was reported. */
  readonly secondsAgo: number;
}

/** Returns the last failure of an inbox message, or nothing known if the message is gone. */
export async function lastFailure(db: Queryable, schema: string, messageId: MessageId): Promise<LastFailure> {
  const text = `select ${schema}.wh_last_failure($1::uuid)::text as failure`;
  const { failure } = await oneRow<{ failure: string | null }>(db, text, [messageId]);
  const { error = '', seconds_ago = 0 } = JSON.parse(failure ?? '{}') as {
    error?: string;
    seconds_ago?: number;
  };
  return { error, secondsAgo: seconds_ago };
}

/**
 * Returns the channel on which the schema notifies, and
 * the process id by which it addresses this session there.
 */
export function channelOf(db: Queryable, schema: string): Promise<{ channel: string; pid: string }> {
  return oneRow(db, `select ${schema}.wh_channel() as channel, pg_backend_pid()::text as pid`);
}

/** Makes this session receive the notifications of the channel. */
export async function listenTo(db: Queryable, channel: string): Promise<void> {
  await db.query(`listen "${channel.replaceAll('"', '""')}"`);
}

/** The answer to a request for the watch: see work/loop/sleep.ts. */
export type AskedToSleep = 'asleep' | 'covered' | 'passed' | 'busy';

/** Requests the watch for this session. `isAble`: what is stored now could be begun at once. */
export async function fallAsleep(db: Queryable, schema: string, isAble: boolean): Promise<AskedToSleep> {
  const text = `select ${schema}.wh_fall_asleep(${isAble}) as sleep`;
  return (await oneRow<{ sleep: AskedToSleep }>(db, text)).sleep;
}

/** Ends the sleep of this session: writers need not notify it any more. */
export async function wakeUp(db: Queryable, schema: string): Promise<void> {
  await db.query(`select ${schema}.wh_wake_up() as awake`);
}

/** Claims a key for a message. Returns the id of the message that has it already, if there is one. */
export async function claimUnique(
  db: Queryable,
  schema: string,
  key: string,
  messageId: MessageId,
  seconds: number,
): Promise<MessageId | undefined> {
  const text = `select ${schema}.wh_claim_unique($1::text, $2::text::uuid, $3::text::float8)::text as first`;
  return (
    (await oneRow<{ first: MessageId | null }>(db, text, [key, messageId, String(seconds)])).first ??
    undefined
  );
}

/** Fails the transaction, so that nothing of it can be committed, however the error is handled. */
export async function spoilTransaction(db: Queryable): Promise<void> {
  await db.query(`select 'the lease of this message was lost'::int`).catch(() => {});
}

/** Whether this session could write: not on a replica, and not in a database that is read only. */
export async function canWrite(db: Queryable): Promise<boolean> {
  const text = `select current_setting('transaction_read_only') as read_only`;
  return (await oneRow<{ read_only: string }>(db, text)).read_only === 'off';
}

/** Returns the schemas of whizbang in this database to which this role may not deliver. */
export async function schemasOutOfReach(db: Queryable): Promise<readonly string[]> {
  const text = `
    select coalesce(json_agg(n.nspname order by n.nspname), '[]')::text as schemas
    from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
    where p.proname = 'wh_receive' and p.prosecdef
      and not (has_schema_privilege(n.oid, 'usage') and has_function_privilege(p.oid, 'execute'))`;
  return JSON.parse((await oneRow<{ schemas: string }>(db, text)).schemas) as string[];
}

/** Runs a statement that returns one row. */
export async function oneRow<Row>(db: Queryable, text: string, values?: unknown[]): Promise<Row> {
  return (await db.query(text, values)).rows[0] as Row;
}
