// Perspectives for people who operate them: how far they are, what is held, and what to do about it.
// In: a perspective, or its name. Out: facts; or a stream that is tried again.
// Called by users (`shop.perspectives`) and by the command line.
import {
  type HeldRow,
  type PerspectiveState,
  perspectiveHeld,
  perspectiveStatus,
  retryHeld,
  type StatusRow,
  skipHeld,
  tick,
} from '../coordinator/index.js';
import type { StreamId } from '../message.js';
import { streamIdOf } from '../messages/index.js';
import { invalidOption, refuseUnknownKeys } from '../options.js';
import type { ModelAccess } from './model-access.js';
import { type AnyPerspective, codeOf } from './registry.js';

/** How a build of a perspective is. */
export interface PerspectiveStatus {
  readonly name: string;
  readonly version: number;
  /** How often this version was built. */
  readonly build: number;
  /** `live`: queries read it. `building`, `beside`: it is built, the first of its name or beside another. `retired`: it was live. */
  readonly state: PerspectiveState;
  readonly isPaused: boolean;
  /** About how many events it has not applied yet. 0: it has caught up. */
  readonly lagEvents: number;
  /** For how long the oldest of them waits. Null: not known. */
  readonly lagSeconds: number | null;
  /** How many events it has applied in a second, in the last minute. */
  readonly rate: number;
  /** When it will have caught up at this rate. Null: not at this rate. */
  readonly secondsLeft: number | null;
  /** How many streams, or models of keys, are held. */
  readonly held: number;
  /** A batch that fails as a whole, and is run again and again. Null: there is none. */
  readonly failing: FailingBatch | null;
  /** What holds it up. Null: nothing. */
  readonly cause: string | null;
}

/** A batch that fails as a whole, of no event's fault: the database refuses its statement, say. Nothing of it is stored. */
export interface FailingBatch {
  /** The place in the order of all events behind which it lies: `events.all({ after })` begins with its events. */
  readonly after: string;
  /** How often it has failed, in all instances. */
  readonly failures: number;
  readonly since: Date;
  /** With what it has failed last. */
  readonly error: string;
}

/** A stream, or the model of a key, that is held in a perspective after a failure. */
export interface HeldStream {
  readonly streamId: StreamId;
  /** The key of the model, in a keyed perspective. Null: the stream is held. */
  readonly key: string | null;
  /** The version, in its stream, of the event that could not be applied. */
  readonly version: number;
  /** The type of that event. */
  readonly event: string;
  readonly eventId: string;
  readonly error: string;
  readonly attempts: number;
  readonly since: Date;
  /** When it is tried again. Null: it waits for somebody to act, or for other code. */
  readonly retryAt: Date | null;
}

/** Options of `perspectives.skip`. */
export interface SkipOptions {
  /** The version of the event that is held: so nobody skips another one by mistake. */
  readonly version: number;
  /** Why. It is kept, with who has skipped it and when. */
  readonly reason: string;
}

export interface OperationsOptions {
  readonly access: ModelAccess;
  /** Who skips: a service, a person. */
  readonly who: string;
}

/** The perspectives of a service, for who operates them: `shop.perspectives`. A name is `orders` or `orders@2`. */
export class PerspectiveOperations {
  readonly #options: OperationsOptions;

  constructor(options: OperationsOptions) {
    this.#options = options;
  }

  /** Returns how every perspective is, in all its versions. */
  async status(): Promise<readonly PerspectiveStatus[]> {
    const { access } = this.#options;
    // What has been committed is in a tick then, and counts.
    await access.ask((db, schema) => tick(db, schema));
    const rows = await access.ask((db, schema) => perspectiveStatus(db, schema));
    return rows.map(statusOf);
  }

  /** Returns what is held in a perspective, those first that are held for longest, at most 1000. */
  async held(perspective: AnyPerspective | string): Promise<readonly HeldStream[]> {
    const name = nameOf(perspective);
    const rows = await this.#options.access.ask((db, schema) => perspectiveHeld(db, schema, name));
    if (rows !== null) return rows.map(heldOf);
    const hint = 'Start an instance that has it, or see the names in perspectives.status().';
    throw invalidOption('perspectives.held', 'perspective', `there is no perspective ${name}`, hint);
  }

  /** Tries a held stream again at once; of a keyed perspective, the model of a key. */
  async retry(perspective: AnyPerspective | string, streamId: string): Promise<void> {
    const ids = idsOf(perspective, streamId);
    await this.#options.access.change((db, schema) => retryHeld(db, schema, nameOf(perspective), ids));
  }

  /** Passes over the event at which a stream is held; of a keyed perspective, the model of a key. */
  async skip(perspective: AnyPerspective | string, streamId: string, options: SkipOptions): Promise<void> {
    const owner = 'perspectives.skip';
    refuseUnknownKeys(owner, { ...options }, ['version', 'reason']);
    const { version, reason } = options;
    if (!Number.isSafeInteger(version) || version < 1) {
      const hint = 'Give the version that perspectives.held() shows.';
      throw invalidOption(owner, 'version', `version is ${String(version)}`, hint);
    }
    if (typeof reason !== 'string' || reason.trim() === '') {
      throw invalidOption(owner, 'reason', 'there is no reason', 'It is kept: say why, or name a ticket.');
    }
    const skip = { version, reason, who: this.#options.who };
    const ids = idsOf(perspective, streamId);
    await this.#options.access.change((db, schema) => skipHeld(db, schema, nameOf(perspective), ids, skip));
  }
}

const nameOf = (perspective: AnyPerspective | string) =>
  typeof perspective === 'string' ? perspective : codeOf(perspective);

/** By which names it may be held: its key, or the id of its stream. */
function idsOf(perspective: AnyPerspective | string, id: string): readonly string[] {
  const isOfStream = typeof perspective !== 'string' && perspective.kind !== 'keyed';
  return isOfStream ? [streamIdOf(id)] : [...new Set([id, streamIdOf(id)])];
}

const statusOf = ({
  is_paused,
  lag_events,
  lag_seconds,
  seconds_left,
  failing,
  ...row
}: StatusRow): PerspectiveStatus => ({
  name: row.name,
  version: row.version,
  build: row.build,
  state: row.state,
  isPaused: is_paused,
  lagEvents: lag_events,
  lagSeconds: lag_seconds,
  rate: row.rate,
  secondsLeft: seconds_left,
  held: row.held,
  failing: failing && {
    after: `${failing.tick}-${failing.upto}`,
    failures: failing.failures,
    since: new Date(failing.since),
    error: failing.error,
  },
  cause: row.cause,
});

const heldOf = ({ stream_id, event_id, since, retry_at, ...row }: HeldRow): HeldStream => ({
  streamId: stream_id,
  key: row.key,
  version: row.version,
  event: row.event,
  eventId: event_id,
  error: row.error,
  attempts: row.attempts,
  since: new Date(since),
  retryAt: retry_at === null ? null : new Date(retry_at),
});
