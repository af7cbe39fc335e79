// Every kind of call, each with what it needs prepared: in: an instance, a lane; out: the parameters to send.
// Used by the plan tests: between them they run every statement of process_work_batch but the removal of stale instances.
import type { TestDatabase } from '../../support/database.js';
import {
  expireLeases,
  Flags,
  type Instance,
  type Lane,
  message,
  outbox,
  type Parameters,
  stream,
  streams,
} from '../../support/work.js';

export const batch = 50;

/** Work that the instance holds. */
const held = (lane: Lane, a: Instance) =>
  a.call(lane.stores(...streams(batch - 10), ...stream(10)), lane.room(batch));

/** Each prepares what it needs and says what to send. */
export const calls: [string, (lane: Lane, a: Instance, db: TestDatabase) => Promise<Parameters[]>][] = [
  ['without anything to do', async () => []],
  ['that stores', async (lane) => [lane.stores(...streams(batch - 10), ...stream(10)), lane.room(batch)]],
  ['that stores without room', async (lane) => [lane.stores(...streams(batch))]],
  [
    'that stores into streams it holds',
    async (lane, a) => {
      const work = await held(lane, a);
      return [lane.stores(...work.map(({ stream_id }) => message({ stream_id }))), lane.room(batch)];
    },
  ],
  [
    'that stores behind what it holds',
    async (lane, a) => {
      const work = await held(lane, a);
      const next = work.map(({ stream_id }) => message({ stream_id }));
      return [lane.stores(...next), lane.room(batch), { p_flags: Flags.Continues }];
    },
  ],
  [
    'that completes and stores into the same streams',
    async (lane, a) => {
      const work = await held(lane, a);
      const next = work.map(({ stream_id }) => message({ stream_id }));
      return [lane.completes(work), lane.stores(...next), lane.room(batch)];
    },
  ],
  ['that completes', async (lane, a) => [lane.completes(await held(lane, a))]],
  ['that completes one', async (lane, a) => [lane.completes((await held(lane, a)).slice(0, 1))]],
  [
    'that completes one and leaves the next to others',
    async (lane, a) => [lane.completes(await a.call(lane.stores(...stream(batch)), lane.room(1)))],
  ],
  ['that completes partly', async (lane, a) => [lane.completes(await held(lane, a), lane.partly)]],
  ['that completes in debug mode', async (lane, a) => [lane.completes(await held(lane, a)), { p_flags: 4 }]],
  [
    'that completes and leaves a history',
    async (lane, a) => [lane.completes(await held(lane, a)), { p_flags: 100 << 16 }],
  ],
  ['that releases', async (lane, a) => [lane.releases(await held(lane, a))]],
  ['that fails', async (lane, a) => [lane.fails(await held(lane, a))]],
  ['that gives up', async (lane, a) => [lane.fails(await held(lane, a), { dead_letter: true })]],
  ['that renews', async (lane, a) => [lane.renews(await held(lane, a))]],
  [
    'that moves the floors',
    async (lane, a, db) => {
      await a.call(lane.renews([message()]));
      await db.pool.query(`update wh_lanes set moved_at = '-infinity'`);
      return [lane.renews([message()])];
    },
  ],
  ['that reports what it does not hold', async (lane) => [lane.completes(streams(batch))]],
  [
    'that claims',
    async (lane, a) => {
      await a.call(lane.stores(...streams(batch)));
      return [lane.room(batch), { p_takeover_seconds: 0 }];
    },
  ],
  [
    'that takes the few that have arrived',
    async (lane, _, db) => {
      await lane.insertPlain(db.pool, ...streams(4), ...stream(4, { is_event: lane !== outbox }));
      return [lane.room(8), { p_spare_outbox_streams: 10, p_spare_inbox_streams: 10 }];
    },
  ],
  // Not among them: a claim under a cap on partitions. It reads every live lease, a known cost (docs/decisions).
  [
    'that claims of one deep stream',
    async (lane, a) => {
      await a.call(lane.stores(...stream(batch)));
      return [lane.room(batch), { p_takeover_seconds: 0 }];
    },
  ],
  [
    'that claims what it has a handler for, and leaves the rest',
    async (lane, a) => {
      const others = streams(batch).map((each) => ({ ...each, [lane.target]: 'another handler' }));
      await a.call(lane.stores(...streams(batch), ...others));
      return [lane.room(batch), { p_takeover_seconds: 0, p_inbox_handlers: ['orders', 'reports'] }];
    },
  ],
  [
    'that claims what others have left',
    async (lane, a, db) => {
      const others = streams(batch).map((each) => ({ ...each, [lane.target]: 'seldom' }));
      await a.call(lane.releases(await a.call(lane.stores(...others), lane.room(batch))));
      await db.pool.query(
        `update wh_active_streams set waits_for = 'seldom' where stream_id = any($1) and lane = 'inbox'`,
        [others.map(({ stream_id }) => stream_id)],
      );
      return [lane.room(batch), { p_inbox_handlers: ['seldom', 'orders'] }];
    },
  ],
  [
    'that reclaims',
    async (lane, a, db) => {
      await held(lane, a);
      await expireLeases(db, a);
      return [lane.room(batch)];
    },
  ],
  [
    'that admits plain inserts',
    async (lane, _, db) => {
      await lane.insertPlain(db.pool, ...streams(batch - 10), ...stream(10));
      return [lane.room(batch)];
    },
  ],
  [
    'that looks behind a crowd of plain inserts',
    async (lane, _, db) => {
      await lane.insertPlain(db.pool, ...streams(6 * batch));
      return [lane.room(batch)];
    },
  ],
  [
    'that admits plainly inserted events',
    async (lane, _, db) => {
      await lane.insertPlain(db.pool, ...stream(10, { is_event: true }), ...streams(10, { is_event: true }));
      return [lane.room(batch)];
    },
  ],
  [
    'that appends events',
    async (lane) => [
      lane.stores(...streams(batch, { is_event: true }), ...stream(10, { is_event: true })),
      lane.room(batch),
    ],
  ],
  [
    'that appends events at an expected version',
    async (lane) => [
      lane.stores(...streams(batch, { is_event: true, expected_version: 0 })),
      lane.room(batch),
    ],
  ],
  [
    'that stores again what is there',
    async (lane, a) => {
      const again = lane.stores(...streams(batch));
      await a.call(again);
      return [again];
    },
  ],
  [
    'with reports of receptors and perspectives',
    async () => [
      {
        p_receptor_completions: streams(batch).map(({ message_id }) => ({
          event_id: message_id,
          receptor_name: 'mailer',
          status: 8,
        })),
        p_perspective_completions: streams(batch).map(({ message_id, stream_id }) => ({
          stream_id,
          perspective_name: 'order-list',
          last_event_id: message_id,
          status: 16,
        })),
      },
    ],
  ],
  [
    'that completes one and sends',
    async (lane, a) => [
      lane.completes((await held(lane, a)).slice(0, 1)),
      outbox.stores(...streams(batch - 10), ...stream(10)),
    ],
  ],
  [
    'that stores with priorities',
    async (lane) => [
      lane.stores(...streams(batch - 10, { priority: 3 }), ...stream(10, { priority: -3 })),
      lane.room(batch),
    ],
  ],
  [
    'that claims by priority',
    async (lane, a) => {
      await a.call(
        lane.stores(...streams(batch / 2, { priority: 1 }), ...streams(batch / 2, { priority: -1 })),
      );
      return [lane.room(batch), { p_takeover_seconds: 0 }];
    },
  ],
];
