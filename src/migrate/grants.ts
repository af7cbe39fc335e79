// What roles may do: the one list of it, for the role of a service, for who only looks, and for who also acts.
// `migrate({ grantTo, grantAs })` grants it, and docs/operate/least-privilege.md prints it, which test/migrate/grant-to.test.ts compares.
import type { Queryable } from '../database/index.js';
import { invalidOption } from '../options.js';

/** What a role is for: to run a service, to look at it, or to look and act on it. */
export type GrantKind = 'service' | 'reader' | 'operator';

export const grantKinds: readonly GrantKind[] = ['service', 'reader', 'operator'];

const functions = [
  ['process_work_batch'],
  ['wh_join_service', 'deregister_instance', 'wh_local_instances', 'wh_end_leases', 'wh_gauges'],
  ['wh_receptor_records'],
  ['wh_count_interruption', 'wh_last_failure', 'wh_order_watch'],
  // Limits and unique keys.
  ['wh_enter_limit', 'wh_wait_at_limit', 'wh_waiting_limits', 'wh_remove_idle_limits', 'wh_claim_unique'],
  ['wh_channel', 'wh_fall_asleep', 'wh_wake_up'],
  ['wh_tick', 'wh_audit_ticks', 'wh_read_events'],
  // The PostgreSQL transport.
  ['wh_subscribe', 'wh_receive', 'wh_listens', 'wh_outgoing'],
  ['wh_transfer', 'wh_transfer_each', 'wh_receivers', 'wh_send'],
  // The NATS transport.
  ['wh_hold_receiver', 'wh_leave_receiver'],
  // The event store.
  ['wh_append', 'wh_lock_stream', 'wh_read_stream', 'wh_load_stream', 'wh_save_snapshot'],
  // What is kept and erased.
  ['wh_open_keys', 'wh_read_keys', 'wh_forget', 'wh_archive_stream', 'wh_delete_stream', 'wh_idle_streams'],
  // Perspectives.
  ['wh_register_perspective', 'wh_take_bookmark', 'wh_move_bookmark', 'wh_note_failure', 'wh_read_ahead'],
  ['wh_read_models'],
  ['wh_inline_models', 'wh_write_inline', 'wh_load_model', 'wh_find_models', 'wh_event_progress'],
  ['wh_perspective_status', 'wh_perspective_held', 'wh_retry_held', 'wh_skip_held', 'wh_switch_perspective'],
  ['wh_builds', 'wh_build_progress', 'wh_rebuild_perspective', 'wh_reset_perspective', 'wh_take_streams'],
  ['wh_store_streams', 'wh_want_build', 'wh_diff_models', 'wh_drop_build'],
  // Delays and schedules.
  ['wh_set_timers', 'wh_fire_timers', 'wh_list_timers', 'wh_cancel_message'],
  ['wh_open_request', 'wh_take_answers'],
  ['wh_look_at_schedules', 'wh_move_schedule', 'wh_keep_schedules', 'wh_list_schedules'],
];

/** The functions that the role of a service needs. */
export const serviceFunctions: readonly string[] = functions.flat();

/** The columns of the outbox that a service may fill in a transaction of its own. */
const outboxColumns =
  'message_id, destination, event_type, event_data, metadata, scope, stream_id, is_event, scheduled_for, priority';

/** What has no payload: views, the operations of operators, and what is paused. */
const readable = [
  [
    'wh_instances',
    'wh_lane_status',
    'wh_stream_status',
    'wh_leases',
    'wh_blocked_streams',
    'wh_waiting_handlers',
  ],
  ['wh_partition_load', 'wh_dead_letter_summary', 'wh_dead_letter_list', 'wh_retries', 'wh_event_list'],
  ['wh_old_transactions', 'wh_table_health', 'wh_partition_assignments', 'wh_perspective_positions'],
  ['wh_messages', 'wh_owner_load', 'wh_waiting_streams', 'wh_operations', 'wh_pauses'],
  ['wh_finished_messages', 'wh_order_violations'],
];

/** What says why a message is not running. */
const questions = [['wh_explain_message', 'wh_explain_stream']];

/** What an operator may do. None of them shows a payload. */
const actions = [
  ['wh_retry_now', 'wh_give_up', 'wh_cancel_message', 'wh_retry_dead_letters', 'wh_discard_dead_letters'],
  ['wh_release_stream', 'wh_release_instance', 'wh_pause', 'wh_resume'],
];

/** The statements after which a role can do what it is for in this schema, and nothing else. Both names are quoted. */
export function grantStatements(
  schema: string,
  role: string,
  kind: GrantKind = 'service',
): readonly string[] {
  const named = (names: readonly string[]) => names.map((name) => `${schema}.${name}`).join(', ');
  const execute = (lists: readonly (readonly string[])[]) =>
    lists.map((names) => `grant execute on function ${named(names)} to ${role}`);
  const usage = `grant usage on schema ${schema} to ${role}`;
  if (kind === 'service') {
    return [
      usage,
      ...execute(functions),
      `grant insert (${outboxColumns}) on ${schema}.wh_outbox to ${role}`,
    ];
  }
  const select = readable.map((names) => `grant select on ${named(names)} to ${role}`);
  return [usage, ...select, ...execute(questions), ...(kind === 'operator' ? execute(actions) : [])];
}

export async function grantTo(
  db: Queryable,
  schema: string,
  role: string,
  kind: GrantKind = 'service',
): Promise<void> {
  if (!grantKinds.includes(kind)) {
    const hint = `Give one of ${grantKinds.join(', ')}.`;
    throw invalidOption(
      'migrate',
      'grantAs',
      `${JSON.stringify(kind)} is nothing that a role can be for`,
      hint,
    );
  }
  for (const statement of grantStatements(schema, `"${role.replaceAll('"', '""')}"`, kind))
    await db.query(statement);
}
