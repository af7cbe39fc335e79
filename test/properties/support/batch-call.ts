// One call of process_work_batch as data: what the model judges by, and the SQL parameters made from it.
// Called by the steps, which fill it in, and by the world, which sends it. It decides nothing.
import { Flags, inbox, type Lane, type NewMessage, outbox, type Parameters } from '../../support/work.js';

export type LaneName = 'outbox' | 'inbox';
export const laneOf: Readonly<Record<LaneName, Lane>> = { outbox, inbox };

/** What an instance says of one message. A completion with status 0 gives the lease back. */
export type Report = { readonly lane: LaneName; readonly id: string } & (
  | { readonly kind: 'complete'; readonly status: number }
  | {
      readonly kind: 'retry';
      readonly status: number;
      readonly retryAfterSeconds: number;
      readonly attempt: number;
    }
  | { readonly kind: 'bury'; readonly status: number; readonly attempt: number }
  | { readonly kind: 'renew' }
);

export interface Stored {
  /** Where it is to end up. */
  readonly lane: LaneName;
  /** It is sent to the service itself, as a new message of the outbox, and the call decides where it goes. */
  readonly isToItself?: boolean;
  readonly message: NewMessage;
}

export interface BatchCall {
  readonly instanceId: string;
  readonly reports: Report[];
  readonly stores: Stored[];
  readonly room: Record<LaneName, number>;
  takeoverSeconds: number;
  /** How many streams of others' partitions it may take of each lane without waiting. */
  readonly spare: number;
  maxPartitions: number | null;
  keepsCompleted: boolean;
  /** It takes new messages behind those of their stream that it holds. */
  continues: boolean;
  readonly leaseSeconds: number;
  readonly staleSeconds: number;
  /** The message of this id carries an expected version that is wrong: the whole call must be refused. */
  refusedFor?: string;
}

/** No sum of what the schedules let pass comes within three seconds of these. */
const leaseSeconds = 60;
const staleSeconds = 95;
export const retrySeconds = 30;
export const passingSeconds = [13, 37, 100] as const;

export function emptyCall(instanceId: string, spare = 0): BatchCall {
  return {
    instanceId,
    reports: [],
    stores: [],
    room: { outbox: 0, inbox: 0 },
    takeoverSeconds: 5,
    spare,
    maxPartitions: null,
    keepsCompleted: false,
    continues: false,
    leaseSeconds,
    staleSeconds,
  };
}

export function parametersOf(call: BatchCall): Parameters {
  const parameters: Parameters = {
    p_lease_seconds: call.leaseSeconds,
    p_stale_threshold_seconds: call.staleSeconds,
    p_takeover_seconds: call.takeoverSeconds,
    p_spare_outbox_streams: call.spare,
    p_spare_inbox_streams: call.spare,
    p_max_partitions_per_instance: call.maxPartitions,
    p_flags:
      (call.keepsCompleted ? 4 : 0) |
      (call.continues ? Flags.Continues : 0) |
      (call.stores.some(({ isToItself }) => isToItself) ? Flags.Direct : 0),
  };
  for (const name of ['outbox', 'inbox'] as const) {
    const lane = laneOf[name];
    const reports = call.reports.filter((report) => report.lane === name);
    const stores = call.stores.filter(({ lane, isToItself }) => (isToItself ? 'outbox' : lane) === name);
    const completions = reports.filter((report) => report.kind === 'complete');
    const failures = reports.filter((report) => report.kind === 'retry' || report.kind === 'bury');
    const renewals = reports.filter((report) => report.kind === 'renew');
    Object.assign(parameters, lane.room(call.room[name]));
    if (stores.length > 0) Object.assign(parameters, lane.stores(...stores.map(({ message }) => message)));
    if (completions.length > 0) {
      parameters[`p_${name}_completions`] = completions.map(({ id, status }) => ({ message_id: id, status }));
    }
    if (failures.length > 0) parameters[`p_${name}_failures`] = failures.map(failure);
    if (renewals.length > 0) parameters[`p_renew_${name}_lease_ids`] = renewals.map(({ id }) => id);
  }
  return parameters;
}

function failure(report: Extract<Report, { kind: 'retry' | 'bury' }>): Record<string, unknown> {
  return {
    message_id: report.id,
    completed_status: report.status,
    error: 'it broke',
    attempt: report.attempt,
    ...(report.kind === 'bury' ? { dead_letter: true } : { retry_after_seconds: report.retryAfterSeconds }),
  };
}
