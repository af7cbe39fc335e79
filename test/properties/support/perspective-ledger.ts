// What happened in a schedule that decides which events a perspective has to apply and to announce. It is noted when it
// happens, from outside: the judge never asks the tables of perspectives what they should hold.
import type { TestDatabase } from '../../support/database.js';

/** What is held: a stream, or the model of a key. */
export interface Held {
  readonly build: string;
  /** Its name for operators: that of the first build, orders@1, would mean the newest one of this code. */
  readonly called: string;
  readonly streamId: string;
  readonly key: string | null;
  readonly version: number;
  readonly eventId: string;
  readonly type: string;
}

export class PerspectiveLedger {
  /** Of each perspective, the events that were in a tick when it was first registered: none of them is announced. */
  readonly #history = new Map<string, ReadonlySet<string>>();
  /** `build event key`, or without the key: the event is left out. */
  readonly #skipped = new Set<string>();
  /** `perspective stream` and `perspective key`: the live build held it when another took its place. */
  readonly #heldAtSwitch = new Set<string>();

  async registered(db: TestDatabase, name: string): Promise<void> {
    if (this.#history.has(name)) return;
    const { rows } = await db.pool.query<{ event_id: string }>(
      'select e.event_id from wh_event_store e join wh_event_ticks t on t.covers @> e.sequence_number',
    );
    this.#history.set(name, new Set(rows.map(({ event_id }) => event_id)));
  }

  skipped({ build, eventId, key }: Held): void {
    this.#skipped.add([build, eventId, key ?? ''].join(' '));
  }

  switched(name: string, held: readonly Held[]): void {
    for (const { streamId, key } of held) this.#heldAtSwitch.add(`${name} ${key ?? streamId}`);
  }

  /** The build is gone, and what was skipped in it: one of the same name asks again. */
  dropped(build: string): void {
    for (const each of this.#skipped) if (each.startsWith(`${build} `)) this.#skipped.delete(each);
  }

  isSkipped(build: string, eventId: string, key = ''): boolean {
    return this.#skipped.has(`${build} ${eventId} `) || this.#skipped.has(`${build} ${eventId} ${key}`);
  }

  isHistory(name: string, eventId: string): boolean {
    return this.#history.get(name)?.has(eventId) === true;
  }

  /** Whether nobody can say if it was announced: it was skipped in a build, or held when that was not live any more. */
  isUncertain(name: string, eventId: string, streamId: string, key = ''): boolean {
    const isOfName = (each: string) => each.startsWith(`${name}@`) && each.includes(` ${eventId} `);
    return (
      this.#heldAtSwitch.has(`${name} ${streamId}`) ||
      this.#heldAtSwitch.has(`${name} ${key}`) ||
      [...this.#skipped].some(isOfName)
    );
  }
}
