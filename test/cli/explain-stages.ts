// A state for each reason of explain, made by calls as instances make them. Called by the test of the command.
import type { TestDatabase } from '../support/database.js';
import { openSession } from '../support/sessions.js';
import {
  expireLeases,
  Flags,
  type Instance,
  inbox,
  message,
  type NewMessage,
  outbox,
  silence,
  stream,
  streamOwnedBy,
} from '../support/work.js';

interface Staged {
  readonly db: TestDatabase;
  readonly a: Instance;
  readonly b: Instance;
}
/** Stages a state, and returns the id of the message to ask about. */
type Stage = (staged: Staged) => Promise<string>;

const handles = (...names: string[]) => ({ p_inbox_handlers: names });
const forHandler = (handler_name: string, fields: Partial<NewMessage> = {}) =>
  ({ ...message(fields), handler_name }) as NewMessage;
/** The message of the inbox that nobody holds. */
const waiting = async (db: TestDatabase): Promise<string> =>
  (await db.pool.query('select message_id from wh_inbox where instance_id is null')).rows[0].message_id;
const noSpare = { p_spare_inbox_streams: 0, p_spare_outbox_streams: 0 };

export const stages: Readonly<Record<string, Stage>> = {
  paused: async ({ db, a }) => {
    await db.pool.query("select wh_pause('type', 'h1', 'the gateway is down', 'ada')");
    const paused = forHandler('h1');
    await inbox.insertPlain(db.pool, paused);
    await a.call({ ...inbox.room(10), ...handles('h1') });
    return paused.message_id;
  },
  'not-here': async () => message().message_id,
  finished: async ({ a }) => {
    const work = await a.call(inbox.stores(message()));
    await a.call(inbox.completes(work));
    return work[0]?.message_id ?? '';
  },
  dead: async ({ a }) => {
    const work = await a.call(inbox.stores(message()));
    await a.call(inbox.fails(work, { dead_letter: true, error: 'no \u001b[31m card\nat pay()' }));
    return work[0]?.message_id ?? '';
  },
  held: async ({ a }) => (await a.call(inbox.stores(message())))[0]?.message_id ?? '',
  'behind-held': async ({ a }) => {
    const all = stream(3);
    await a.call(inbox.stores(...all), inbox.room(1));
    return all[2]?.message_id ?? '';
  },
  orphaned: async ({ db, a }) => {
    const [item] = await a.call(inbox.stores(message()));
    await expireLeases(db, a);
    return item?.message_id ?? '';
  },
  scheduled: async ({ a }) => {
    const [first, second] = await a.call(inbox.stores(...stream(2)));
    await a.call(
      inbox.fails(first ? [first] : [], { retry_after_seconds: 600, error: 'declined' }),
      inbox.releases(second ? [second] : []),
    );
    return second?.message_id ?? '';
  },
  'not-appended': async ({ db, a, b }) => {
    const [first] = await a.call(outbox.stores(...stream(1, { is_event: true })));
    await a.call(outbox.completes(first ? [first] : []));
    const stream_id = first?.stream_id ?? null;
    const application = await openSession(db);
    await application.client.query('begin');
    await b
      .over(application.client)
      .call(
        outbox.stores(message({ stream_id, is_event: true, expected_version: 1 })),
        outbox.room(0),
        inbox.room(0),
      );
    const next = message({ stream_id, is_event: true });
    await outbox.insertPlain(db.pool, next);
    await a.call();
    return next.message_id;
  },
  'no-handler': async ({ db, a }) => {
    const one = forHandler('gone');
    await inbox.insertPlain(db.pool, one);
    await a.call(handles('mail'));
    return one.message_id;
  },
  'at-limit': async ({ db, a }) => {
    const all = [forHandler('mine'), forHandler('mine')];
    await inbox.insertPlain(db.pool, ...all);
    await a.call(handles(), { p_inbox_limits: JSON.stringify({ mine: 1 }) });
    await db.pool.query(`update wh_service_instances set inbox_limits = '{"mine": 0}'`);
    return waiting(db);
  },
  unadmitted: async ({ db, a }) => {
    await a.call();
    await db.pool.query(`update wh_lanes set admitted_below = 1000000 where lane = 'inbox'`);
    const one = message();
    await inbox.insertPlain(db.pool, one);
    return one.message_id;
  },
  'below-floor': async ({ db, a }) => {
    const work = await a.call(inbox.stores(message()));
    await a.call(inbox.releases(work), inbox.room(0));
    await a.call(inbox.room(0));
    await db.pool.query(`update wh_service_instances set inbox_room = 10`);
    await db.pool.query(`update wh_active_streams set available_at = available_at - interval '2 hours'`);
    await db.pool.query(`update wh_lanes set free_from = clock_timestamp() - interval '1 hour'`);
    return work[0]?.message_id ?? '';
  },
  'not-mine-yet': async ({ db, a, b }) => {
    for (const each of [a, b]) await each.call(noSpare, { p_takeover_seconds: 3600 });
    const stream_id = await streamOwnedBy(db, b);
    const [item] = await a.call(inbox.stores(message({ stream_id })));
    await a.call(inbox.releases(item ? [item] : []), inbox.room(0));
    // The owner has its hands full.
    await db.pool.query(`update wh_service_instances set inbox_room = 0 where instance_id = $1`, [b.id]);
    return item?.message_id ?? '';
  },
  'no-room': async ({ db, a }) => {
    await inbox.insertPlain(db.pool, message(), message());
    await a.call(inbox.room(1));
    await db.pool.query('update wh_service_instances set inbox_room = 0');
    return waiting(db);
  },
  capped: async ({ db, a }) => {
    await a.call(inbox.stores(message()), { p_max_partitions_per_instance: 1 });
    const one = message();
    await inbox.insertPlain(db.pool, one);
    await a.call({ p_max_partitions_per_instance: 1 });
    return one.message_id;
  },
  'row-locked': async ({ db, a }) => {
    const work = await a.call(inbox.stores(message()));
    await a.call(inbox.releases(work), inbox.room(0));
    const other = await openSession(db);
    await other.client.query('begin');
    await other.client.query('select from wh_active_streams for no key update');
    return work[0]?.message_id ?? '';
  },
  cooling: async ({ a }) => {
    const work = await a.call(inbox.stores(message()));
    await a.call(inbox.fails(work, { retry_after_seconds: 0 }));
    return work[0]?.message_id ?? '';
  },
  'nobody-asks': async ({ db, a }) => {
    const one = message();
    await inbox.insertPlain(db.pool, one);
    await a.call(inbox.room(0));
    await silence(db, a, 3600);
    return one.message_id;
  },
  'claimable-now': async ({ db, a }) => {
    await a.call();
    const one = message();
    await inbox.insertPlain(db.pool, one);
    return one.message_id;
  },
  'left-us': async ({ a }) => {
    const work = await a.call(outbox.stores(message()));
    await a.call(outbox.completes(work), { p_flags: Flags.DebugMode });
    return work[0]?.message_id ?? '';
  },
};
