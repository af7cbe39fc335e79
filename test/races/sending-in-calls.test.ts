// Instances of one service that all send to it in their calls, into the same few streams, and handle what comes back. Some of the messages
// leave by the outbox, and those behind them must not overtake them.
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { Service } from '../sql/support/services.js';
import type { TestDatabase } from '../support/database.js';
import { ids, it, type NewMessage, Status, type WorkRow } from '../support/work.js';

const streamIds = Array.from({ length: 4 }, () => randomUUID());
const done = Status.ReceptorProcessed | Status.PerspectiveProcessed;

class Instance {
  readonly service: Service;
  readonly sent: NewMessage[] = [];
  #held: WorkRow[] = [];
  byOutbox = 0;

  constructor(
    private readonly db: TestDatabase,
    private readonly handled: WorkRow[],
  ) {
    this.service = new Service('whizbang', db.pool);
  }

  /** Stores these, completes what it held and handles what it is given. False: there was nothing to do. */
  async turn(...messages: NewMessage[]): Promise<boolean> {
    const completions = this.#held.map(({ message_id }) => ({ message_id, status: done }));
    const stored = messages.map((each) => ({ destination: 'shop', ...each }));
    const rows = await this.#call(JSON.stringify(stored), JSON.stringify(completions));
    this.sent.push(...messages);
    this.#held = rows.filter(({ source }) => source === 'inbox');
    this.handled.push(...this.#held);
    const outbox = rows.filter(({ source }) => source === 'outbox');
    this.byOutbox += outbox.filter(({ destination }) => destination === 'shop').length;
    if (outbox.length > 0) await this.service.transfer(...outbox);
    return rows.length + completions.length > 0;
  }

  /** Again after a deadlock, as the coordinator does: nothing of it was applied. */
  async #call(stored: string, completions: string): Promise<WorkRow[]> {
    for (;;) {
      try {
        const { rows } = await this.db.pool.query<WorkRow>(
          `select * from process_work_batch($1, 's', 'h', 1, p_flags => 256, p_new_outbox_messages => $2, p_inbox_completions => $3,
             p_spare_outbox_streams => 10, p_spare_inbox_streams => 10, p_takeover_seconds => 0)`,
          [this.service.instanceId, stored, completions],
        );
        return rows;
      } catch (error) {
        if ((error as { code?: string }).code !== '40P01') throw error;
      }
    }
  }
}

it('six instances that send to themselves get each message once, in the order of its sender', async ({
  db,
}) => {
  const handled: WorkRow[] = [];
  const instances = Array.from({ length: 6 }, () => new Instance(db, handled));
  await (instances[0] as Instance).service.subscribe('shop');
  await Promise.all(
    instances.map(async (instance, i) => {
      for (let round = 0; round < 25; round++) {
        await instance.turn(
          ...[0, 1, 2, 3].map((k) => ({
            message_id: randomUUID(),
            event_type: 't',
            event_data: { round, k },
            ...((round + k) % 5 === 0 && { destination: 'nobody' }),
            stream_id: streamIds[(i + round + (k % 2)) % streamIds.length] as string,
          })),
        );
      }
    }),
  );
  for (let isBusy = true; isBusy; ) {
    isBusy = false;
    for (const instance of instances) if (await instance.turn()) isBusy = true;
  }

  const sent = instances.flatMap((instance) => instance.sent).filter((each) => !('destination' in each));
  expect(ids(handled).sort()).toEqual(ids(sent).sort());
  for (const instance of instances) {
    for (const streamId of streamIds) {
      const mine = ids(sent.filter((each) => instance.sent.includes(each) && each.stream_id === streamId));
      expect(ids(handled).filter((id) => mine.includes(id))).toEqual(mine);
    }
  }
  const byOutbox = instances.reduce((count, instance) => count + instance.byOutbox, 0);
  expect(byOutbox).toBeGreaterThan(0);
  expect(byOutbox).toBeLessThan(sent.length);
  for (const table of ['wh_outbox', 'wh_inbox', 'wh_active_streams']) {
    expect((await db.pool.query(`select * from ${table}`)).rows).toEqual([]);
  }
});
