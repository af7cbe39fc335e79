import { nextTime, type Schedule } from './schedule.js';

/** What is to be sent of a schedule now, and where it stands then. */
interface DueTimes {
  readonly times: readonly number[];
  /** Undefined: its pattern has no further time. */
  readonly next: number | undefined;
}

/** How late a time may be that is not yet missed. */
const graceMs = 60_000;
/** How many times one step catches up at most. The rest follows in the next one. */
const mostAtOnce = 100;

/** Decides which times are sent: `from` is the first that is due, and not after `now`. */
export function dueTimes(schedule: Schedule, from: number, now: number): DueTimes {
  if (schedule.catchUp === 'all') return allTimes(schedule, from, now);
  const last = lastTime(schedule, from, now);
  const isMissed = schedule.catchUp === 'skip' && now - last > graceMs;
  return { times: isMissed ? [] : [last], next: nextTime(schedule, now) };
}

function allTimes(schedule: Schedule, from: number, now: number): DueTimes {
  const times = [from];
  let next = nextTime(schedule, from);
  while (next !== undefined && next <= now && times.length < mostAtOnce) {
    times.push(next);
    next = nextTime(schedule, next);
  }
  return { times, next };
}

/** The last time that is not after `now`. It looks back further and further: there may be millions before it. */
function lastTime(schedule: Schedule, from: number, now: number): number {
  for (let backMs = 1_000; now - backMs > from; backMs *= 4) {
    let last: number | undefined;
    for (let next = nextTime(schedule, now - backMs); next !== undefined && next <= now; ) {
      last = next;
      next = nextTime(schedule, next);
    }
    if (last !== undefined && last > from) return last;
  }
  let last = from;
  for (let next = nextTime(schedule, from); next !== undefined && next <= now; ) {
    last = next;
    next = nextTime(schedule, next);
  }
  return last;
}
