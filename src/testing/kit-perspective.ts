// A perspective under test, on a database of its own: what goes wrong in production must not show in its models.
// In: events. Out: nothing, or an AssertionError that shows how the models differ.
// The expected models are folded, without any mishap, from the events as they are in the store.
import { type ConnectionPool, type Queryable, quoteSchema } from '../database/index.js';
import { foldModels, type ModelPerspective, type Receipt, type StoredEvent } from '../fold/index.js';
import type { InstanceId } from '../message.js';
import type { MessageToSend } from '../messages/index.js';
import type { Whizbang } from '../whizbang.js';
import { complaint, differenceLines } from './complaint.js';
import { differences } from './differences.js';
import { expireLeases } from './passing-time.js';

/** An instance that can be killed. */
interface StageWorker {
  readonly instanceId: InstanceId;
  die(admin: Queryable, atLast: () => void): Promise<void>;
  stop(): Promise<void>;
}

/** A database with one perspective. */
export interface Stage {
  readonly pool: ConnectionPool & Queryable;
  readonly schema: string;
  readonly sender: Pick<Whizbang<never>, 'events' | 'model'>;
  readonly startWorker: () => Promise<StageWorker>;
  readonly close: () => Promise<void>;
}

/** How long a busy machine may take for one event. */
const patience = { timeoutSeconds: 60 };

/** A perspective under test, made by `kit.perspective`. */
export class KitPerspective {
  readonly #perspective: ModelPerspective<unknown>;
  readonly #openStage: (perspective: ModelPerspective<unknown>) => Promise<Stage>;

  constructor(
    perspective: ModelPerspective<unknown>,
    openStage: (perspective: ModelPerspective<unknown>) => Promise<Stage>,
  ) {
    this.#perspective = perspective;
    this.#openStage = openStage;
  }

  /**
   * The models are the same when every event is appended twice, when the instance is killed between any two of
   * them, and when they are built again from the beginning. Uses a database of its own. Fails with the error of an
   * event that cannot be applied.
   */
  async survives(events: readonly MessageToSend<'event'>[]): Promise<void> {
    const stage = await this.#openStage(this.#perspective);
    let worker = await stage.startWorker();
    try {
      for (const event of events) {
        const receipt = await stage.sender.events.append(event);
        await appendAgain(stage, receipt);
        // It has just been woken, and may be in the middle of its batch.
        await worker.die(stage.pool, () => {});
        await expireLeases(stage.pool, stage.schema, worker.instanceId);
        worker = await stage.startWorker();
        await stage.sender.model(this.#perspective).waitFor(receipt, patience);
      }
      const stored: StoredEvent[] = [];
      for await (const event of stage.sender.events.all()) stored.push(event);
      await this.#compare(stage, stored, 'after duplicates and kills');
      await worker.stop();
      await forget(stage, this.#perspective);
      worker = await stage.startWorker();
      const last = stored.at(-1);
      if (last !== undefined) await stage.sender.model(this.#perspective).waitFor(last, patience);
      await this.#compare(stage, stored, 'when they were built again');
    } finally {
      await worker.stop();
      await stage.close();
    }
  }

  async #compare({ pool, schema }: Stage, events: readonly StoredEvent[], when: string): Promise<void> {
    const { name } = this.#perspective;
    const results = await foldModels(this.#perspective, new Map(), events);
    const expected = Object.fromEntries(
      results.flatMap((result) =>
        result.kind === 'changed' ? [[result.id, { model: result.model, version: result.version }]] : [],
      ),
    );
    const { rows } = await pool.query(
      `select id::text, data, version::text from ${quoteSchema(schema)}."${name}"`,
    );
    const actual = Object.fromEntries(
      (rows as { id: string; data: unknown; version: string }[]).map(({ id, data, version }) => [
        id,
        { model: data, version: Number(version) },
      ]),
    );
    const found = [...differences(actual, expected, { whole: true })];
    if (found.length === 0) return;
    const message = `${name} has other models ${when}:\n${differenceLines(found)}`;
    throw complaint(message, { actual, expected, operator: 'survives' });
  }
}

/** Appends an event that is in the store once more, as after a lost answer. */
async function appendAgain({ pool, schema }: Stage, { eventId }: Pick<Receipt, 'eventId'>): Promise<void> {
  const s = quoteSchema(schema);
  await pool.query(
    `select ${s}.wh_append(jsonb_build_array(jsonb_build_object('message_id', e.event_id, 'destination', e.event_type,
       'event_type', e.event_type, 'event_data', e.event_data, 'metadata', e.metadata, 'scope', e.scope,
       'stream_id', e.stream_id, 'is_event', true)))
     from ${s}.wh_event_store e where e.event_id = $1`,
    [eventId],
  );
}

/** Removes all that is known of a perspective: for the next instance it is a new one. */
async function forget({ pool, schema }: Stage, { name, version }: ModelPerspective<unknown>): Promise<void> {
  const s = quoteSchema(schema);
  await pool.query(`
    drop view ${s}."${name}";
    drop table ${s}."${name}_v${version}";
    delete from ${s}.wh_perspectives;
    delete from ${s}.wh_perspective_bookmarks;
    delete from ${s}.wh_perspective_checkpoints`);
}
