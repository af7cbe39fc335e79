// Ways to break perspectives, each one text in one file, with the test files in which a single test notices it.

interface Mutation {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  readonly tests: readonly string[];
}

const sql = (name: string) => `sql/functions/perspectives/${name}.sql`;
const tests = (...names: string[]) => names.map((name) => `test/perspectives/${name}.test.ts`);

export const mutations: readonly Mutation[] = [
  {
    name: 'a model without its version guard',
    file: sql('wh_write_models'),
    from: 'where m.version < excluded.version$q$',
    to: 'where true$q$',
    tests: tests('inline', 'fencing'),
  },
  {
    name: 'a move without the fence',
    file: sql('wh_move_bookmark'),
    from: `and x.fence = (p_move ->> 'fence')::bigint`,
    to: '',
    tests: tests('fencing'),
  },
  {
    name: 'a move by who does not hold it',
    file: sql('wh_move_bookmark'),
    from: `and x.instance_id = p_instance_id and x.fence = (p_move ->> 'fence')::bigint`,
    to: '',
    tests: tests('fencing'),
  },
  {
    name: 'a sweep that ends at the highest number',
    file: sql('wh_build_perspective'),
    from: 'case when is_swept then upper(l.covers) - 1 else 0 end',
    to: 'case when is_swept then l.high else 0 end',
    tests: tests('merged-ticks'),
  },
  {
    name: 'a sweep that ends by numbers alone',
    file: sql('wh_next_swept'),
    from: `e.event_type = any(p.event_types)
      and (e.sequence_number <= p.started_restored or e.transaction_id < p.started_next_xid and e.transaction_id <> all(p.started_open))`,
    to: 'e.event_type = any(p.event_types)',
    tests: tests('sweeping'),
  },
  {
    name: 'history that is announced',
    file: sql('wh_build_perspective'),
    from: 'coalesce(l.tick, 0), coalesce(upper(l.covers) - 1, 0))',
    to: '0, 0)',
    tests: tests('announcing'),
  },
  {
    name: 'a tick under its old number',
    file: 'sql/functions/ticks/wh_present_tick.sql',
    from: 'select coalesce((select t.tick from wh_event_ticks t where t.tick >= p_tick order by t.tick limit 1), p_tick)',
    to: 'select p_tick',
    tests: tests('merged-ticks'),
  },
  {
    name: 'a build that overtakes the live one',
    file: sql('wh_next_logged'),
    from: 'where v_last_tick is null or (r.tick, r.sequence_number) <= (v_last_tick, v_last_upto)',
    to: 'where true',
    tests: tests('switching'),
  },
  {
    name: 'a switch to a build that is behind',
    file: sql('wh_switch_over'),
    from: 'x.is_swept or (x.low_tick, x.low_upto) < (v_place.low_tick, v_place.low_upto))',
    to: 'false)',
    tests: tests('switching'),
  },
  {
    name: 'a switch that forgets what was announced',
    file: sql('wh_switch_over'),
    from: 'announced_tick = g.tick, announced_upto = g.upto',
    to: 'announced_tick = x.announced_tick, announced_upto = x.announced_upto',
    tests: tests('switching'),
  },
  {
    name: 'a switch that raises no fence',
    file: sql('wh_switch_over'),
    from: 'set instance_id = null, lease_expiry = null, fence = x.fence + 1',
    to: 'set instance_id = x.instance_id',
    tests: tests('switching'),
  },
  {
    name: 'a hold that is never released',
    file: 'src/perspectives/batch-results.ts',
    from: 'freed.push({ stream_id });',
    to: 'stream_id.at(0);',
    tests: tests('held', 'operations'),
  },
  {
    name: 'a hold without what was passed',
    file: sql('wh_hold_models'),
    from: 'set passed_version = greatest(k.passed_version, x.version), quiet_version',
    to: 'set quiet_version',
    tests: tests('held'),
  },
  {
    name: 'a hold that announces its past',
    file: sql('wh_next_held'),
    from: 'v_announces and s.version > d.quiet_version as announces',
    to: 'v_announces as announces',
    tests: tests('switching'),
  },
  {
    name: 'a retry beyond what was passed',
    file: sql('wh_next_held'),
    from: 'and s.version <= d.passed_version',
    to: '',
    tests: tests('held'),
  },
  {
    name: 'a retry of a key beyond the bookmark',
    file: sql('wh_next_held'),
    from: 'and not e.is_elsewhere and (e.tick, e.sequence_number) <= (v_bookmark_tick, b.upto)',
    to: 'and not e.is_elsewhere',
    tests: tests('keyed-holds'),
  },
  {
    name: 'a retry of a key with held streams',
    file: sql('wh_next_held'),
    from: 'and not e.is_elsewhere ',
    to: '',
    tests: tests('keyed-holds'),
  },
  {
    name: 'a skip that does not pass the event',
    file: sql('wh_skip_held'),
    from: 'case when k.model_key is null then k.failed_version else k.last_version end',
    to: 'k.last_version',
    tests: tests('operations'),
  },
  {
    name: 'a skip of a key that does not pass',
    file: sql('wh_skip_held'),
    from: 'held_upto = k.held_upto + 1',
    to: 'held_upto = k.held_upto',
    tests: tests('operations'),
  },
  {
    name: 'a late failure that holds what was skipped',
    file: sql('wh_hold_models'),
    from: `where k.skipped @> jsonb_build_array(jsonb_build_object('event_id', excluded.failed_event_id)) is not true;`,
    to: ';',
    tests: tests('operations'),
  },
  {
    name: 'ranges joined while one is behind',
    file: sql('wh_join_bookmarks'),
    from: 'continue when v_is_done is not true;',
    to: '',
    tests: tests('ranges'),
  },
  {
    name: 'a position that is lost by a merge',
    file: 'sql/functions/ticks/wh_read_events.sql',
    from: 't.first_tick <= p_after_tick as is_begun',
    to: 't.tick <= p_after_tick as is_begun',
    tests: ['test/sql/merging-ticks.test.ts'],
  },
  {
    name: 'ticks merged out of order',
    file: 'sql/functions/ticks/wh_merge_ticks.sql',
    from: 'coalesce(lower(p.covers) < upper(lag(p.covers) over w), true) as is_apart',
    to: 'lag(p.covers) over w is null as is_apart',
    tests: ['test/sql/merging-ticks.test.ts'],
  },
  {
    name: 'a tick without those that were open',
    file: 'sql/functions/ticks/wh_tick.sql',
    from: 'where ended.xid <> all(v_open) and',
    to: 'where false and',
    tests: ['test/sql/ticks.test.ts'],
  },
  {
    name: 'an announcement without its model',
    file: 'src/perspectives/fold-batch.ts',
    from: 'event.eventId, id, nth]',
    to: 'event.eventId, nth]',
    tests: tests('announcing'),
  },
  {
    name: 'announcements of what is quiet',
    file: 'src/perspectives/fold-batch.ts',
    from: 'if (rowOf(announcement.event).announces) announcements',
    to: 'announcements',
    tests: tests('switching', 'rebuilding-in-place'),
  },
  {
    name: 'a dropped build that leaves its holds',
    file: sql('wh_drop_build'),
    from: 'delete from wh_perspective_checkpoints k where k.perspective_name = p_name;',
    to: '',
    tests: tests('switching', 'rebuilding'),
  },
  {
    name: 'inline models without what was skipped',
    file: sql('wh_inline_models'),
    // Its list and the version behind it leave it out, each of them alone.
    from: `e.version > greatest(m.version, k.last_version, 0) and e.event_type = any($2)
            and (k.skipped is null or not k.skipped @> jsonb_build_array(jsonb_build_object('event_id', e.event_id)))`,
    to: 'e.version > coalesce(m.version, 0) and e.event_type = any($2)',
    tests: tests('skipping'),
  },
  {
    name: 'a skip that voids nothing',
    file: sql('wh_skip_held'),
    from: 'set instance_id = null, lease_expiry = null, fence = b.fence + 1',
    to: 'set instance_id = b.instance_id',
    tests: tests('skipping'),
  },
];
