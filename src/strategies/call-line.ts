// The line in front of the coordinator: one call is in flight, and what waits meanwhile goes with the next.
// In: runs of units, from every strategy of an instance. Out: calls, one after the other, of a limited size.
// Called by the strategies, or by a program directly. It never keeps units: a run that rejects returns them.
//
// Words: A unit is what has to be stored in one call or not at all. A run is a list of units that a
// caller submits together, with one promise for all of them. A call is one request to the coordinator:
// it takes units of one or more runs, and a long run takes several calls.
import { noRoom, type WorkBatchRequest, type WorkCoordinator } from '../coordinator/index.js';
import { WhizbangError } from '../errors.js';
import { type WorkBatch, WorkBatchFlags } from '../message.js';
import { Call, type Entry } from './call.js';
import { asWhizbangError, mayComeFromUnit } from './input-errors.js';
import { Run, type RunOptions, type RunResult } from './run.js';
import type { WorkUnit } from './strategy.js';
import { checkUnit, mergeUnits } from './work-unit.js';

/** Options of a CallLine. */
export interface CallLineOptions {
  readonly coordinator: Pick<WorkCoordinator, 'processWorkBatch'>;
  /**
   * Returns how much may be handed out now. Called when a call is put together.
   * Default: the limits of `request`, or else those of the coordinator or the database.
   */
  readonly room?: () => RoomNow;
  /**
   * Receives the batch of every call, with the time when it was sent
   * (`performance.now()`, before the leases began). With it, every call asks for
   * work. Without it, the first run of a call that takes work gets the work.
   */
  readonly onBatch?: (batch: WorkBatch, sentAt: number) => void;
  /** Awaited before each call, so that more units may go with it. Default: no pause. */
  readonly pause?: () => Promise<void>;
  /**
   * How long the leases of a call may last whose answer was lost. Nothing is known
   * of them here, so nothing may be leased behind them. Default: without end.
   */
  readonly lostLeaseMs?: number;
  /** Fields that are sent with every call. */
  readonly request?: Omit<WorkBatchRequest, keyof WorkUnit>;
}

/** The most items to hand out, and how many streams could begin at once, whichever instance owns them. */
export interface RoomNow {
  readonly outbox: number;
  readonly inbox: number;
  readonly spareOutbox?: number;
  readonly spareInbox?: number;
  /** The most bookmarks of perspectives. Default: 0. */
  readonly perspectives?: number;
  /** Limits that are asked for streams that wait there, and the most of each. Default: none. */
  readonly limits?: Readonly<Record<string, number>> | undefined;
  /** What the instance says of itself with this call. Default: nothing. */
  readonly facts?: Readonly<Record<string, unknown>> | undefined;
  /**
   * New messages may be leased behind those that are held (`WorkBatchFlags.Continues`)
   * when at least so much room is left for other streams. Default: never.
   */
  readonly continuesAbove?: number;
}

type Room = Pick<
  WorkBatchRequest,
  | 'maxOutboxItems'
  | 'maxInboxItems'
  | 'maxPerspectiveItems'
  | 'spareOutboxStreams'
  | 'spareInboxStreams'
  | 'flags'
  | 'inboxLimits'
  | 'facts'
>;

/**
 * The most items in a call. Bigger calls cost as much per message (about
 * 100 µs for 1 000 as for 3 000, on two busy cores) and delay what waits.
 */
const maxItemsPerCall = 1000;

/** The queue in which the units of all strategies of an instance wait for the one call in flight. */
export class CallLine {
  readonly #options: CallLineOptions;
  /** Those in the call in flight come first. */
  readonly #waiting: Run[] = [];
  #isCalling = false;
  #continuesFrom = 0;

  constructor(options: CallLineOptions) {
    this.#options = options;
  }

  /**
   * Sends these units, in order, after all that waits already. A function is
   * called for its units when the call is put together. Rejects when a call
   * failed; only `options.fate` then reports what was committed before.
   */
  run(
    units: readonly WorkUnit[] | (() => readonly WorkUnit[]),
    options: RunOptions = {},
  ): Promise<RunResult> {
    if (typeof units !== 'function') for (const unit of units) checkUnit(unit);
    const run = new Run(typeof units === 'function' ? units : () => units, options);
    this.#waiting.push(run);
    if (!this.#isCalling) void this.#makeCalls();
    return run.finished;
  }

  /** Makes calls while runs wait. Never rejects: an error of a call goes to its runs. */
  async #makeCalls(): Promise<void> {
    this.#isCalling = true;
    while (this.#waiting.length > 0) {
      await this.#options.pause?.(); // also without a pause: what is queued in one go leaves together
      const call = new Call(this.#waiting, maxItemsPerCall);
      try {
        if (!call.isEmpty) await this.#send(call, call.entries, this.#roomFor(call));
        this.#waiting.splice(0, call.endingCount);
        call.finish({ givesWork: this.#options.onBatch === undefined });
      } catch (error) {
        this.#waiting.splice(0, call.runCount); // a run that does not end here has failed too
        call.fail(asWhizbangError(error));
      }
    }
    this.#isCalling = false;
  }

  async #send(call: Call, entries: readonly Entry[], room: Room): Promise<void> {
    const { coordinator, onBatch, request } = this.#options;
    const sentAt = performance.now();
    let batch: WorkBatch;
    try {
      const units = mergeUnits(entries.map(({ unit }) => unit));
      batch = await coordinator.processWorkBatch({ ...request, ...units, ...room });
    } catch (thrown) {
      const error = asWhizbangError(thrown);
      if (mayComeFromUnit(error) && entries.length > 0) return this.#sendInParts(call, entries, room, error);
      this.#continuesFrom = performance.now() + (this.#options.lostLeaseMs ?? Number.POSITIVE_INFINITY);
      throw error;
    }
    for (const { unit, run } of entries) run.carried(unit);
    call.answered(batch);
    try {
      onBatch?.(batch, sentAt);
    } catch (thrown) {
      // The call was committed and its units are settled: only the listener has failed.
      queueMicrotask(() => {
        throw thrown;
      });
    }
  }

  /**
   * Sends a refused call in halves, so that one bad unit among n costs
   * 2 log n calls. Each half is finished before the next begins, so that what
   * can be stored is stored in its order. Only the last part asks for work.
   */
  async #sendInParts(call: Call, entries: readonly Entry[], room: Room, error: WhizbangError): Promise<void> {
    const [entry, ...others] = entries;
    if (entry !== undefined && others.length === 0) {
      entry.run.refused(entry.unit, error);
      if (room !== noRoom) await this.#send(call, [], room);
      return;
    }
    const half = Math.ceil(entries.length / 2);
    await this.#send(call, entries.slice(0, half), noRoom);
    await this.#send(call, entries.slice(half), room);
  }

  #roomFor(call: Call): Room {
    const { room, onBatch, request } = this.#options;
    if (onBatch === undefined && !call.takesWork) return noRoom;
    if (room === undefined) return {};
    const { continuesAbove, ...limits } = readRoom(room);
    const isFull = (limits.maxInboxItems ?? 0) - call.newCount < continuesAbove;
    if (isFull || performance.now() < this.#continuesFrom) return limits;
    return { ...limits, flags: (request?.flags ?? WorkBatchFlags.None) | WorkBatchFlags.Continues };
  }
}

/**
 * Reads and checks the room. A wrong value is refused here: in the call, a unit would seem to be the cause.
 */
function readRoom(
  room: NonNullable<CallLineOptions['room']>,
): Room & Required<Pick<RoomNow, 'continuesAbove'>> {
  let cause: unknown;
  try {
    const {
      outbox,
      inbox,
      spareOutbox = 0,
      spareInbox = 0,
      perspectives = 0,
      limits,
      facts,
      continuesAbove = Number.POSITIVE_INFINITY,
    } = room();
    if (
      [outbox, inbox, spareOutbox, spareInbox, perspectives].every(
        (count) => Number.isInteger(count) && count >= 0,
      )
    ) {
      return {
        maxOutboxItems: outbox,
        maxInboxItems: inbox,
        spareOutboxStreams: spareOutbox,
        spareInboxStreams: spareInbox,
        maxPerspectiveItems: perspectives,
        ...(limits && { inboxLimits: limits }),
        ...(facts && { facts }),
        continuesAbove,
      };
    }
    cause = new RangeError(`outbox ${outbox}, inbox ${inbox}`);
  } catch (error) {
    cause = error;
  }
  throw new WhizbangError('INVALID_OPTION', {
    message: `CallLine: room did not return whole numbers of at least 0: ${String(cause)}`,
    details: { option: 'room' },
    cause,
  });
}
