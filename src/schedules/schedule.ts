import { Cron } from 'croner';
import type { MessageToSend } from '../messages/index.js';
import { invalidOption, refuseUnknownKeys } from '../options.js';

/** What is done about times at which no instance ran. */
export type CatchUp = 'skip' | 'last' | 'all';

/** Options of `schedule`. */
export interface ScheduleOptions {
  /** The time zone of the pattern, for example `Europe/Berlin`. Default: `UTC`. */
  readonly timeZone?: string | undefined;
  /**
   * What is done about times at which no instance ran. `last`: one message, for the last of them. `all`: one for each, in
   * order. `skip`: none for what is more than a minute late. Default: `last`.
   */
  readonly catchUp?: CatchUp | undefined;
}

/** A message that is sent at the times of a cron pattern, made by `schedule`. */
export interface Schedule {
  readonly name: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly catchUp: CatchUp;
  /** Makes the message for a time. */
  readonly message: (time: Date) => MessageToSend | Promise<MessageToSend>;
}

const catchUps: readonly unknown[] = ['skip', 'last', 'all'] satisfies CatchUp[];

/**
 * Makes a schedule: `schedule('nightly', '0 2 * * *', () => CloseBooks({}))`. The pattern has five fields, or six with
 * seconds first. The message is made when its time has come, and gets the time. Pass it to createWhizbang as
 * `schedules: [nightly]`.
 */
export function schedule(
  name: string,
  cron: string,
  message: (time: Date) => MessageToSend | Promise<MessageToSend>,
  options: ScheduleOptions = {},
): Schedule {
  const refuse = (isWrong: boolean, option: string, fact: string, hint: string) => {
    if (isWrong) throw invalidOption('schedule', option, fact, hint);
  };
  const isName = typeof name === 'string' && name !== '' && !name.includes('\0');
  refuse(!isName, 'name', 'name is not a text, is empty, or contains a NUL character', 'Give a name.');
  refuse(
    typeof message !== 'function',
    'message',
    `${name} has no function that makes its message`,
    "Write schedule('nightly', '0 2 * * *', () => CloseBooks({})).",
  );
  refuseUnknownKeys('schedule', { ...options }, ['timeZone', 'catchUp']);
  const { timeZone = 'UTC', catchUp = 'last' } = options;
  const choices = "Give 'skip', 'last' or 'all'.";
  refuse(!catchUps.includes(catchUp), 'catchUp', `catchUp of ${name} is ${String(catchUp)}`, choices);
  refuse(
    !isTimeZone(timeZone),
    'timeZone',
    `timeZone of ${name} is ${String(timeZone)}, which is not a time zone`,
    "Give a name such as 'Europe/Berlin' or 'UTC'.",
  );
  const fault = faultOf(cron);
  const fields = 'Give five fields (minute, hour, day, month, weekday), or six with seconds first.';
  refuse(fault !== undefined, 'cron', `cron of ${name} ${fault}`, fields);
  return Object.freeze({ name, cron: cron.trim().replaceAll(/\s+/g, ' '), timeZone, catchUp, message });
}

type Pattern = Pick<Schedule, 'cron' | 'timeZone'>;

/** Reading a pattern takes longer than finding its next time. */
const read = new WeakMap<Pattern, Cron>();

/** Returns the first time of the schedule after this one. Undefined: there is none. */
export function nextTime(pattern: Pattern, after: number): number | undefined {
  const cron = read.get(pattern) ?? new Cron(pattern.cron, { timezone: pattern.timeZone, paused: true });
  read.set(pattern, cron);
  return cron.nextRun(new Date(after))?.getTime();
}

function faultOf(cron: unknown): string | undefined {
  if (typeof cron !== 'string') return 'is not a text';
  const { length } = cron.trim().split(/\s+/);
  if (length !== 5 && length !== 6) return `is ${JSON.stringify(cron)}, which has ${length} fields`;
  try {
    new Cron(cron, { paused: true });
    return undefined;
  } catch (error) {
    return `is ${JSON.stringify(cron)}: ${(error as Error).message}`;
  }
}

function isTimeZone(value: unknown): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: value as string });
    return typeof value === 'string';
  } catch {
    return false;
  }
}
