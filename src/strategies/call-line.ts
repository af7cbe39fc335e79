// The line in front of the coordinator: one call in flight, and all that waits meanwhile rides on the next one.
// In: runs of units, from every strategy of an instance. Out: calls, one after the other, each at most so big.
// Called by the strategies, or by a program directly. It keeps nothing: a run that rejects has its units back.
import { noRoom, type WorkBatchRequest, type WorkCoordinator } from '../coordinator/index.js';
import { WhizbangError } from '../errors.js';
import { type WorkBatch, WorkBatchFlags } from '../message.js';
import { asWhizbangError, blamesInput } from './blame.js';
import { Call, type Seat } from './call.js';
import { Run, type RunOptions, type RunResult } from './run.js';
import type { WorkUnit } from './strategy.js';
import { checkUnit, mergeUnits } from './work-unit.js';

/** Of a line. */
export interface CallLineOptions {
  readonly coordinator: Pick<WorkCoordinator, 'processWorkBatch'>;
  /** How much may be handed out now, asked when a call is put together. Default: what `request` or the database says. */
  readonly room?: () => RoomNow;
  /**
   * Gets the batch of every call, with the time it was sent (`performance.now()`, before the leases began). Then
   * every call asks for work. Without it the first run of a call that looks gets the work.
   */
  readonly onBatch?: (batch: WorkBatch, sentAt: number) => void;
  /** Waited for before each call, so that more may ride on it. Default: not at all. */
  readonly pause?: () => Promise<void>;
  /** How long what a call leased may last whose answer was lost: nothing is known of it here, so nothing may be leased behind it. Default: for ever. */
  readonly lostLeaseMs?: number;
  /** Sent with every call. */
  readonly request?: Omit<WorkBatchRequest, keyof WorkUnit>;
}

/** Items to be handed out at most; and how many streams could begin at once, whoever owns them. */
export interface RoomNow {
  readonly outbox: number;
  readonly inbox: number;
  readonly spareOutbox?: number;
  readonly spareInbox?: number;
  /**
   * New messages may be leased behind those that are held (`WorkBatchFlags.Continues`), where so much room is left for other streams.
   * Default: never.
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
>;

/** Bigger calls cost as much per message (about 100 µs for 1 000 as for 3 000, on two busy cores) and hold up what waits. */
const maxItemsPerCall = 1000;

/** Where the units of all strategies of an instance wait for the one call in flight. */
export class CallLine {
  readonly #options: CallLineOptions;
  readonly #waiting: Run[] = [];
  #isMoving = false;
  #continuesFrom = 0;

  constructor(options: CallLineOptions) {
    this.#options = options;
  }

  /**
   * Has these units carried, in order, after all that waits already. A function is asked for its units when the call
   * is put together. Rejects when a call failed; what was committed before is then only told to `options.fate`.
   */
  run(
    units: readonly WorkUnit[] | (() => readonly WorkUnit[]),
    options: RunOptions = {},
  ): Promise<RunResult> {
    if (typeof units !== 'function') for (const unit of units) checkUnit(unit);
    const run = new Run(typeof units === 'function' ? units : () => units, options);
    this.#waiting.push(run);
    if (!this.#isMoving) void this.#move();
    return run.finished;
  }

  /** Never rejects: whatever goes wrong with a call goes to its runs. */
  async #move(): Promise<void> {
    this.#isMoving = true;
    await Promise.resolve(); // so that what is queued in one go leaves together
    while (this.#waiting.length > 0) {
      if (this.#options.pause !== undefined) await this.#options.pause();
      const call = new Call(this.#waiting, maxItemsPerCall);
      this.#waiting.splice(0, call.endingCount);
      await this.#carry(call);
    }
    this.#isMoving = false;
  }

  async #carry(call: Call): Promise<void> {
    try {
      if (call.seats.length > 0 || call.takesWork) await this.#send(call, call.seats, this.#roomFor(call));
      call.finish({ givesWork: this.#options.onBatch === undefined });
    } catch (error) {
      if (call.carries(this.#waiting[0])) this.#waiting.shift(); // it has its units back, also those to come
      call.fail(asWhizbangError(error));
    }
  }

  async #send(call: Call, seats: readonly Seat[], room: Room): Promise<void> {
    const { coordinator, onBatch, request } = this.#options;
    const sentAt = performance.now();
    let batch: WorkBatch;
    try {
      const units = mergeUnits(seats.map(({ unit }) => unit));
      batch = await coordinator.processWorkBatch({ ...request, ...units, ...room });
    } catch (thrown) {
      const error = asWhizbangError(thrown);
      if (blamesInput(error) && seats.length > 0) return this.#sendInParts(call, seats, room, error);
      this.#continuesFrom = performance.now() + (this.#options.lostLeaseMs ?? Number.POSITIVE_INFINITY);
      throw error;
    }
    for (const { unit, run } of seats) run.carried(unit);
    call.gather(batch);
    try {
      onBatch?.(batch, sentAt);
    } catch (thrown) {
      // The call was committed and its units are settled: this is nobody's failure but the listener's.
      queueMicrotask(() => {
        throw thrown;
      });
    }
  }

  /**
   * Something in it is bad. By halves, so that one bad unit among n costs 2 log n calls: each half is done with before
   * the next begins, so that what can be stored is stored in its order. Only the last part asks for work.
   */
  async #sendInParts(call: Call, seats: readonly Seat[], room: Room, error: WhizbangError): Promise<void> {
    const [seat, ...others] = seats;
    if (seat !== undefined && others.length === 0) {
      seat.run.refuse(seat.unit, error);
      if (room !== noRoom) await this.#send(call, [], room);
      return;
    }
    const half = Math.ceil(seats.length / 2);
    await this.#send(call, seats.slice(0, half), noRoom);
    await this.#send(call, seats.slice(half), room);
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

/** Refused here: in the call it would look as if a unit were to blame. */
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
      continuesAbove = Number.POSITIVE_INFINITY,
    } = room();
    if ([outbox, inbox, spareOutbox, spareInbox].every((count) => Number.isInteger(count) && count >= 0)) {
      return {
        maxOutboxItems: outbox,
        maxInboxItems: inbox,
        spareOutboxStreams: spareOutbox,
        spareInboxStreams: spareInbox,
        continuesAbove,
      };
    }
    cause = new RangeError(`outbox ${outbox}, inbox ${inbox}`);
  } catch (error) {
    cause = error;
  }
  throw new WhizbangError('INVALID_OPTION', {
    message: `CallLine: room gave no two whole numbers: ${String(cause)}`,
    details: { option: 'room' },
    cause,
  });
}
