// What people who operate perspectives do in a schedule: skip, retry, build again, switch, drop.
import {
  dropBuild,
  retryHeld,
  skipHeld,
  switchPerspective,
  wantBuild,
} from '../../../src/coordinator/index.js';
import type { TestDatabase } from '../../support/database.js';
import type { Held, PerspectiveLedger } from './perspective-ledger.js';
import type { Random } from './random.js';

async function heldIn(db: TestDatabase, builds: string): Promise<readonly Held[]> {
  const { rows } = await db.pool.query<Held>(
    `select k.perspective_name as build, format('%s.%s', p.code, p.build) as called, k.stream_id as "streamId", k.model_key as key, k.failed_version::int as version,
       k.failed_event_id as "eventId", k.failed_type as type
     from wh_perspective_checkpoints k join wh_perspectives p on p.name = k.perspective_name
     where k.held and ${builds} order by k.perspective_name, k.stream_id`,
  );
  return rows;
}

export class PerspectiveOperators {
  readonly #db: TestDatabase;
  readonly #random: Random;
  readonly #ledger: PerspectiveLedger;

  constructor(db: TestDatabase, random: Random, ledger: PerspectiveLedger) {
    this.#db = db;
    this.#random = random;
    this.#ledger = ledger;
  }

  async #pickHeld(isFit: (held: Held) => boolean): Promise<Held | undefined> {
    const held = (await heldIn(this.#db, 'true')).filter(isFit);
    return held.length === 0 ? undefined : this.#random.pick(held);
  }

  /** Only an event without which the others still make sense. `isBusy`: a transaction has the bookmark of the build. */
  async skip(isBusy: (build: string) => boolean): Promise<void> {
    const held = await this.#pickHeld(({ type, build }) => type === 'Added' && !isBusy(build));
    if (held === undefined) return;
    const { called, streamId, key, version } = held;
    const skip = { version, reason: 'the schedule says so', who: 'nobody' };
    try {
      await skipHeld(this.#db.pool, 'whizbang', called, [key ?? streamId], skip);
      this.#ledger.skipped(held);
    } catch (error) {
      // It was skipped before, and what is behind it was not tried yet.
      if (!/is not held|is held at/.test((error as Error).message)) throw error;
    }
  }

  async retry(): Promise<void> {
    const held = await this.#pickHeld(() => true);
    if (held === undefined) return;
    await retryHeld(this.#db.pool, 'whizbang', held.called, [held.key ?? held.streamId]);
  }

  /** A build beside the live one, which takes over when it has caught up, or waits. */
  async rebuild(name: string): Promise<void> {
    const { rows: before } = await this.#db.pool.query('select name from wh_perspectives');
    const switches = this.#random.chance(0.8);
    await this.#db.pool.query('select wh_rebuild_perspective($1, null, $2)', [name, switches]);
    const { rows: after } = await this.#db.pool.query('select name from wh_perspectives');
    for (const row of before)
      if (!after.some((each) => each.name === row.name)) this.#ledger.dropped(row.name);
  }

  /** Queries are to read another build: the one beside, or the one before. */
  async wantOther(name: string): Promise<void> {
    const { rowCount } = await this.#db.pool.query(
      `select from wh_perspectives where base_name = $1 and state in ('beside', 'retired')`,
      [name],
    );
    if (rowCount !== 0) await wantBuild(this.#db.pool, 'whizbang', name, null);
  }

  async drop(): Promise<void> {
    const { rows } = await this.#db.pool.query<{ name: string }>(
      `select name from wh_perspectives where state in ('beside', 'retired') order by name`,
    );
    if (rows.length === 0) return;
    const { name } = this.#random.pick(rows);
    if (await dropBuild(this.#db.pool, 'whizbang', name)) this.#ledger.dropped(name);
  }

  /** What an instance does whose build has caught up. */
  async switchOver(build: string): Promise<boolean> {
    const name = build.split('@')[0] as string;
    const held = await heldIn(this.#db, `p.base_name = '${name}' and p.state in ('live', 'building')`);
    const isSwitched = (await switchPerspective(this.#db.pool, 'whizbang', build)) === 'switched';
    if (isSwitched) this.#ledger.switched(name, held);
    return isSwitched;
  }
}
