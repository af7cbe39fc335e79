// How a session sleeps: its states, and what each event makes of them.
// In: a state and an event. Out: the next state, and what is to be done.
// Called by the Listener, which has the connection, and by Rest, which has the timers. It never waits.
//
// One session of a schema keeps the watch: it holds a lock, and is notified of everything that is stored. It
// passes the watch on while it is not able to begin a message at once, unless it is the only one that sleeps.
//
// | State     | What it holds                    | Who notifies it                     | Next               |
// |-----------|----------------------------------|-------------------------------------|--------------------|
// | `awake`   | at most the lock of a covered    | nobody: its loop works, and looks   | asleep, covered,   |
// |           | session                          |                                     | passed, busy       |
// | `asleep`  | the watch                        | every commit that stores something  | awake, passed,     |
// |           |                                  |                                     | busy               |
// | `covered` | the lock that sleeping sessions  | the session that passes the watch   | awake, asleep,     |
// |           | share                            | on                                  | passed, busy       |
// | `passed`  | nothing: it is not able          | nobody: another one keeps the watch | awake, asleep,     |
// |           |                                  | or was notified to take it          | covered, busy      |
// | `busy`    | nothing: an open transaction has | nobody: no session sleeps           | awake, asleep,     |
// |           | stored something, and does not   |                                     | covered, passed    |
// |           | notify                           |                                     |                    |
// | `deaf`    | no connection                    | nobody: it polls                    | awake              |
//
// Each of them becomes `deaf` when it asks and there is no answer, and `awake` when its connection is lost.
import type { AskedToSleep } from '../../coordinator/index.js';

/** State of a session. */
export type Sleep = 'awake' | AskedToSleep | 'deaf';

/** Something to do: wake the loop, plan a look soon, release the watch. */
type Effect = 'wake' | 'hint' | 'release';
type Step<Next> = readonly [next: Next, ...effects: Effect[]];
/** What follows in the session that keeps the watch, if that is something else, and in any session. */
type Steps = { readonly watching?: Step<Sleep>; readonly any: Step<Sleep | 'the same'> };

const steps = {
  // A notification for the session that keeps the watch. The first one finds the loop at rest: the session
  // stays asleep, which saves two statements and a look. `Again` finds it at work: more will follow, so
  // notifications are not needed until the session next falls asleep.
  stored: { watching: ['asleep', 'wake'], any: ['the same', 'hint'] },
  storedAgain: { watching: ['awake', 'wake', 'release'], any: ['the same', 'hint'] },
  // A notification for this very session, or for all.
  called: { watching: ['asleep', 'wake'], any: ['awake', 'wake'] },
  calledAgain: { watching: ['awake', 'wake', 'release'], any: ['awake', 'wake'] },
  // The loop wants no notifications for a while.
  paused: { watching: ['awake', 'release'], any: ['awake'] },
  connected: { any: ['awake', 'wake'] },
  lost: { any: ['awake', 'wake'] },
  // The answers when it asks to sleep.
  asleep: { any: ['asleep'] },
  covered: { any: ['covered'] },
  passed: { any: ['passed'] },
  busy: { any: ['busy'] },
  unanswered: { any: ['deaf'] },
} satisfies Record<string, Steps>;

/** Something that happens to a session. */
export type SleepEvent = keyof typeof steps;

/** Returns the state that follows an event, and what is to be done. */
export function stepFrom(sleep: Sleep, event: SleepEvent): Step<Sleep> {
  const { watching, any }: Steps = steps[event];
  if (sleep === 'asleep' && watching !== undefined) return watching;
  const [next, ...effects] = any;
  return [next === 'the same' ? sleep : next, ...effects];
}

/** The loop of a session, when it could rest. */
interface IdleLoop {
  /** Whether no lane wants more. */
  readonly isFull: boolean;
  /** Whether a message that is stored now could be begun at once; `wasAble`: when it last asked. */
  readonly isAble: boolean;
  readonly wasAble: boolean;
  /** Whether it was notified since it last asked. */
  readonly wasNotified: boolean;
}

/** Returns whether a session has to ask to sleep before its loop may rest. */
export function hasToAsk(sleep: Sleep, { isFull, isAble, wasAble, wasNotified }: IdleLoop): boolean {
  if (sleep === 'deaf') return false; // it polls
  if (sleep === 'awake' || sleep === 'busy') return !isFull;
  if (sleep === 'passed') return isAble;
  // One that is still not able tries again to pass the watch: another session may be able by now.
  return isAble !== wasAble || (!isAble && wasNotified);
}

/** Returns whether the loop has to look once more after its session has asked to sleep. */
export function looksAfter(before: Sleep, after: Sleep): boolean {
  // If it was asleep before, it was notified of all. If the watch was passed, the other one looks.
  return !(after === 'deaf' || after === 'passed' || (after === 'asleep' && before === 'asleep'));
}
