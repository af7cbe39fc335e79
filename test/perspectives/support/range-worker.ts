// Instances that work on the ranges of one perspective, step by step, as a test orders them: so they can be stopped
// between any two steps. What is applied is noted in a table that refuses nothing.
import type { TestDatabase } from '../../support/database.js';
import type { Instance } from '../../support/work.js';

interface Taken {
  readonly tick: number;
  readonly upto: number;
  readonly fence: number;
  readonly next: Next | null;
}

interface Next {
  readonly mode: string;
  readonly tick: number;
  readonly upto: number;
  readonly swept: number | null;
  readonly events: readonly {
    readonly event_id: string;
    readonly stream_id: string;
    readonly version: number;
  }[];
}

export async function registerCounted(db: TestDatabase, { id }: Instance): Promise<void> {
  const facts = {
    name: 'counted',
    version: 1,
    kind: 'custom',
    event_types: ['OrderPlaced', 'OrderPaid'],
    fingerprint: 'one',
    columns: {},
    indexes: [],
  };
  await db.pool.query('select wh_register_perspective($1, $2)', [id, facts]);
  await db.pool.query('create table applied (at serial, event_id uuid, stream_id uuid, version int)');
}

/** A range that an instance was handed, until it gives it up. */
export class RangeWorker {
  readonly #db: TestDatabase;
  readonly #instance: Instance;
  readonly #from: number;
  #taken: Taken | undefined;

  constructor(db: TestDatabase, instance: Instance, from: number) {
    this.#db = db;
    this.#instance = instance;
    this.#from = from;
  }

  /** Claims what there is. */
  static async claim(db: TestDatabase, instance: Instance, room: number): Promise<RangeWorker[]> {
    const rows = await instance.call({ p_perspectives: '{counted@1}', p_max_perspective_items: room });
    return rows
      .filter(({ source }) => source === 'perspective')
      .map(({ partition_number }) => new RangeWorker(db, instance, partition_number));
  }

  /** Takes a batch, or stores the one that it has taken. False: it has nothing left, or has lost its range. */
  async step(goesOn = true): Promise<boolean> {
    if (this.#taken === undefined) {
      const { rows } = await this.#db.pool.query<{ taken: Taken | null }>(
        'select wh_take_bookmark($1, $2, $3, 4) as taken',
        [this.#instance.id, 'counted@1', this.#from],
      );
      this.#taken = rows[0]?.taken ?? undefined;
    } else {
      this.#taken = (await this.#move(this.#taken, this.#taken.next as Next, goesOn)) ?? undefined;
    }
    return this.#taken?.next != null;
  }

  async #move({ tick, upto, fence }: Taken, next: Next, goesOn: boolean): Promise<Taken | null> {
    const client = await this.#db.pool.connect();
    try {
      await client.query('begin');
      const move = {
        tick,
        upto,
        fence,
        to_tick: next.tick,
        to_upto: next.upto,
        swept: next.swept,
        events: next.events.length,
      };
      await client.query(
        'insert into applied (event_id, stream_id, version) select * from jsonb_to_recordset($1) as x(event_id uuid, stream_id uuid, version int)',
        [JSON.stringify(next.events)],
      );
      const { rows } = await client.query<{ taken: Taken | null }>(
        `select wh_move_bookmark($1, $2, $3, $4, '{}', 30, 4, $5) as taken`,
        [this.#instance.id, 'counted@1', this.#from, move, goesOn],
      );
      const taken = rows[0]?.taken ?? null;
      await client.query(taken === null ? 'rollback' : 'commit');
      return taken;
    } finally {
      client.release();
    }
  }
}
