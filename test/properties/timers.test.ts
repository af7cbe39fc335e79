// Any order of sends, cancellations, deaths and steps of the clock: what fires is what a model of one list would fire.
import fc from 'fast-check';
import type pg from 'pg';
import { expect, it } from 'vitest';
import { newMessageId } from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';

const runs = Number(process.env.SCHEDULES ?? 500) / 10;

const hourMs = 3_600_000;

type Step =
  | { readonly kind: 'set'; readonly hours: readonly number[]; readonly ends: 'commit' | 'rollback' }
  | { readonly kind: 'cancel'; readonly pick: number; readonly ends: 'commit' | 'rollback' }
  | { readonly kind: 'pass'; readonly hours: number }
  | { readonly kind: 'fire'; readonly limit: number; readonly ends: 'commit' | 'rollback' }
  | {
      readonly kind: 'meet';
      readonly pick: number;
      readonly limit: number;
      readonly ends: 'commit' | 'rollback';
    };

const ends = fc.constantFrom('commit' as const, 'commit' as const, 'rollback' as const);
const pick = fc.nat(20);
const limit = fc.integer({ min: 1, max: 4 });
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('set' as const),
      hours: fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 3 }),
      ends,
    }),
    fc.record({ kind: fc.constant('cancel' as const), pick, ends }),
    // Less than zero: the clock is set back.
    fc.record({ kind: fc.constant('pass' as const), hours: fc.integer({ min: -2, max: 4 }) }),
    fc.record({ kind: fc.constant('fire' as const), limit, ends }),
    fc.record({ kind: fc.constant('meet' as const), pick, limit, ends }),
  ),
  { minLength: 5, maxLength: 40 },
);

/** All timers in one list, and all that was sent in another. Time is in hours. */
class Model {
  now = 0;
  waiting: { readonly id: string; readonly due: number }[] = [];
  readonly sent: string[] = [];

  /** Those that a look finds, in their order; one that somebody is cancelling is passed by. */
  due(count: number, locked?: string): readonly string[] {
    return this.waiting
      .map(({ id, due }, place) => ({ id, due, place }))
      .filter(({ id, due }) => due <= this.now && id !== locked)
      .sort((a, b) => a.due - b.due || a.place - b.place)
      .slice(0, count)
      .map(({ id }) => id);
  }

  send(ids: readonly string[]): void {
    this.sent.push(...ids);
    this.waiting = this.waiting.filter(({ id }) => !ids.includes(id));
  }

  cancel(id: string): void {
    this.waiting = this.waiting.filter((timer) => timer.id !== id);
  }
}

/** The database, with two sessions. A session that rolls back stands for an instance that died. */
class World {
  readonly #one: pg.Client;
  readonly #other: pg.Client;
  /** The hours are counted from here. It lies back, so that what is due now is due. */
  readonly #begun = Date.now() - hourMs / 2;

  constructor(one: pg.Client, other: pg.Client) {
    this.#one = one;
    this.#other = other;
  }

  async run(step: Step, model: Model): Promise<void> {
    if (step.kind === 'pass') {
      model.now += step.hours;
      await this.#one.query('update wh_timers set due_at = due_at - make_interval(hours => $1)', [
        step.hours,
      ]);
    } else if (step.kind === 'set') await this.#set(step, model);
    else if (step.kind === 'fire') await this.#fire(step, model);
    else await this.#cancel(step, model);
  }

  async #set({ hours, ends: end }: Extract<Step, { kind: 'set' }>, model: Model): Promise<void> {
    const timers = hours.map((hour) => ({ id: newMessageId(), due: model.now + hour }));
    const rows = timers.map(({ id, due }) => ({
      message_id: id,
      destination: 'orders',
      event_type: 'Reminder',
      event_data: {},
      // The same time for all of an hour: ties are broken by the order of sending.
      scheduled_for: new Date(this.#begun + (due - model.now) * hourMs),
    }));
    await this.#one.query('begin');
    await this.#one.query('select wh_set_timers($1::jsonb)', [JSON.stringify(rows)]);
    await this.#one.query(end);
    if (end === 'commit') model.waiting.push(...timers);
  }

  async #fire({ limit: count, ends: end }: { limit: number; ends: string }, model: Model, locked?: string) {
    await this.#other.query('begin');
    const { rows } = await this.#other.query('select fired from wh_fire_timers($1)', [count]);
    await this.#other.query(end);
    const due = model.due(count, locked);
    expect(rows[0].fired).toBe(due.length);
    if (end === 'commit') model.send(due);
  }

  /** With `meet`, another session looks while the cancellation is not committed. */
  async #cancel(step: Extract<Step, { kind: 'cancel' | 'meet' }>, model: Model): Promise<void> {
    const ids = [...model.waiting.map(({ id }) => id), newMessageId()];
    const id = ids[step.pick % ids.length] as string;
    const isKnown = model.waiting.some((timer) => timer.id === id);
    await this.#one.query('begin');
    const { rows } = await this.#one.query('select wh_cancel_message($1) as is_cancelled', [id]);
    expect(rows[0].is_cancelled).toBe(isKnown);
    if (step.kind === 'meet') await this.#fire({ limit: step.limit, ends: 'commit' }, model, id);
    await this.#one.query(step.ends);
    if (step.ends === 'commit') model.cancel(id);
  }

  async expectAs(model: Model): Promise<void> {
    const { rows } = await this.#one.query(
      `select (select coalesce(json_agg(message_id order by sequence_order), '[]') from wh_outbox) as sent,
              (select coalesce(json_agg(message_id order by timer_order), '[]') from wh_timers) as waiting`,
    );
    expect(rows[0]).toEqual({ sent: model.sent, waiting: model.waiting.map(({ id }) => id) });
  }
}

it('any order of timers, cancellations, deaths and clock steps fires what a list would fire', async () => {
  await using db = await createTestDatabase();
  const world = new World(await db.connect(), await db.connect());
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      await db.pool.query('truncate wh_timers, wh_outbox, wh_active_streams');
      const model = new Model();
      for (const step of all) {
        await world.run(step, model);
        await world.expectAs(model);
      }
    }),
    { numRuns: runs, endOnFailure: false },
  );
});
