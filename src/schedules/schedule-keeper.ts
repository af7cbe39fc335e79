import { createHash } from 'node:crypto';
import {
  keepSchedules,
  lookAtSchedules,
  moveSchedule,
  type ScheduleRow,
  type ScheduleStep,
} from '../coordinator/index.js';
import { type ConnectionPool, isOutage, type Queryable, withPooledClient } from '../database/index.js';
import { describeError } from '../describe-error.js';
import { CollectedMessages, Dispatcher, type Origin } from '../dispatch/index.js';
import { WhizbangError } from '../errors.js';
import type { Logger } from '../logger.js';
import type { NewOutboxMessage } from '../message.js';
import { type MessageToSend, streamIdOf } from '../messages/index.js';
import { beforeDeadline, unlessAborted } from '../time-limits.js';
import { Alarm } from '../timers/index.js';
import { dueTimes } from './due-times.js';
import { nextTime, type Schedule } from './schedule.js';

interface ScheduleKeeperOptions {
  readonly schedules: readonly Schedule[];
  readonly pool: ConnectionPool;
  /** The schema, quoted. */
  readonly schema: string;
  readonly instanceId: string;
  /** The sender of the messages. */
  readonly origin: Origin;
  readonly sendsDirectly: boolean;
  readonly logger: Logger;
}

const answerMs = 10_000;
/** Longest pause: the clock of the database may be set forward, and the plan that leads may have gone. */
const longestPauseMs = 5_000;
/** How long other schedules wait for the function of one. After that it goes on beside them. */
const patienceMs = 100;
/** After this time a function counts as failed. */
const longestMakingSeconds = 60;

/** What a step of a schedule sends. */
type Made = Pick<ScheduleStep, 'messages' | 'next' | 'last'>;

/** A function of a schedule at work, for the time at which the schedule stands. */
interface Making {
  readonly from: number;
  readonly work: Promise<Made>;
  isLate: boolean;
}

/**
 * Sends the messages of schedules when their times have come. All instances do so. A time belongs to the one that
 * moves the schedule on, in the statement that also stores the message.
 */
export class ScheduleKeeper {
  readonly #options: ScheduleKeeperOptions;
  readonly #alarm: Alarm;
  readonly #plan: string;
  /** The time at which the message of a schedule could not be made: it is logged once. */
  readonly #failed = new Map<string, number>();
  readonly #making = new Map<string, Making>();

  constructor(options: ScheduleKeeperOptions) {
    this.#options = options;
    this.#plan = planOf(options.schedules);
    this.#alarm = new Alarm({ look: () => this.#look(), what: 'Schedules', logger: options.logger });
  }

  /** Resolves when the schedules are known. Fails when the database refuses them. */
  async start(): Promise<void> {
    await this.#look();
    this.#alarm.start();
  }

  stop(): Promise<void> {
    return this.#alarm.stop();
  }

  /** Looks at all schedules, and moves those that are new, changed or due. */
  async #look(): Promise<number> {
    const { schedules } = this.#options;
    const keeper = this.#keeper;
    const seen = await this.#ask((db, schema) => lookAtSchedules(db, schema, keeper));
    if (!seen.leads) return longestPauseMs;
    const stored = new Map(seen.schedules.map((row) => [row.name, row]));
    const names = schedules.map(({ name }) => name);
    if (seen.schedules.some(({ name }) => !names.includes(name))) {
      await this.#ask((db, schema) => keepSchedules(db, schema, keeper, names));
    }
    let pauseMs = longestPauseMs;
    for (const schedule of schedules) {
      pauseMs = Math.min(pauseMs, await this.#keep(schedule, stored.get(schedule.name), seen.now));
    }
    return pauseMs;
  }

  /** Brings one schedule up to date. Returns in how many milliseconds it is due, or 0 to look again. */
  async #keep(schedule: Schedule, row: ScheduleRow | undefined, now: number): Promise<number> {
    if (row === undefined || !isSame(schedule, row)) {
      const next = nextTime(schedule, now);
      await this.#move({ ...schedule, from: undefined, next, last: undefined, messages: [] });
      return 0;
    }
    if (row.next_at === null) return longestPauseMs;
    if (row.next_at > now) return row.next_at - now;
    try {
      const made = await this.#made(schedule, row.next_at, now);
      if (made === undefined) return longestPauseMs;
      await this.#move({ ...schedule, from: row.next_at, ...made });
      return 0;
    } catch (error) {
      if (isOutage(error)) throw error;
      if (this.#failed.get(schedule.name) !== row.next_at) {
        const facts = { schedule: schedule.name, error: describeError(error) };
        this.#options.logger.error(facts, 'The message of a schedule could not be sent; it is tried again');
      }
      this.#failed.set(schedule.name, row.next_at);
      return longestPauseMs;
    }
  }

  /** Returns what a schedule sends now. Undefined: its function is still at work, and wakes this keeper at its end. */
  async #made(schedule: Schedule, from: number, now: number): Promise<Made | undefined> {
    const known = this.#making.get(schedule.name);
    const isNew = known === undefined || known.from !== from;
    const making = isNew ? { from, work: this.#make(schedule, from, now), isLate: false } : known;
    this.#making.set(schedule.name, making);
    const ended = making.work.then(
      () => {},
      () => {},
    );
    if (!(await beforeDeadline(ended, performance.now() + (making.isLate ? 0 : patienceMs)))) {
      if (!making.isLate) void ended.then(() => this.#alarm.wake());
      making.isLate = true;
      return undefined;
    }
    this.#making.delete(schedule.name);
    return making.work;
  }

  async #make(schedule: Schedule, from: number, now: number): Promise<Made> {
    const { times, next } = dueTimes(schedule, from, now);
    const messages: NewOutboxMessage[] = [];
    for (const time of times) messages.push(...(await this.#messagesFor(schedule, new Date(time))));
    return { messages, next, last: times.at(-1) };
  }

  /** The message for a time. Its id follows from both, so that it is handled once, whatever happens. */
  async #messagesFor(schedule: Schedule, time: Date): Promise<readonly NewOutboxMessage[]> {
    const { origin } = this.#options;
    const collected = new CollectedMessages();
    const dispatcher = new Dispatcher({ ...origin, outbox: collected });
    const messageId = streamIdOf(`schedule ${origin.service} ${schedule.name} ${time.toISOString()}`);
    const message = await inTime(schedule, time);
    if (message?.definition?.kind === 'event') {
      await dispatcher.publish(message as MessageToSend<'event'>, { messageId });
    } else {
      await dispatcher.send(message as MessageToSend<'command'>, { messageId });
    }
    return collected.messages;
  }

  async #move(step: ScheduleStep): Promise<void> {
    const { sendsDirectly } = this.#options;
    await this.#ask((db, schema) => moveSchedule(db, schema, this.#keeper, step, sendsDirectly));
  }

  get #keeper() {
    return { instanceId: this.#options.instanceId, plan: this.#plan };
  }

  #ask<T>(question: (db: Queryable, schema: string) => Promise<T>): Promise<T> {
    const { pool, schema } = this.#options;
    return withPooledClient(pool, (db) => question(db, schema), answerMs);
  }
}

/** Calls the function of a schedule, and waits for it no longer than it may take. */
async function inTime(schedule: Schedule, time: Date): Promise<MessageToSend> {
  const giveUp = () =>
    new WhizbangError('HANDLER_TIMEOUT', {
      message: `The function of the schedule ${schedule.name} has not returned within ${longestMakingSeconds} seconds.`,
    });
  const made = Promise.resolve(schedule.message(time));
  return unlessAborted(AbortSignal.timeout(longestMakingSeconds * 1000), made, { giveUp });
}

function isSame({ cron, timeZone, catchUp }: Schedule, row: ScheduleRow): boolean {
  return cron === row.cron && timeZone === row.time_zone && catchUp === row.catch_up;
}

/** One value for all that is said of the schedules. Their functions are not part of it: code has no value. */
function planOf(schedules: readonly Schedule[]): string {
  const said = schedules
    .map(({ name, cron, timeZone, catchUp }) => [name, cron, timeZone, catchUp])
    .sort(([a = ''], [b = '']) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(said)).digest('hex').slice(0, 32);
}
