// Everything the database holds, in one look, and what must be true of it at any time. In: a connection. Out: the rows,
// or an error that says which rule is broken. Called by the world after every step. It never changes anything.
import type pg from 'pg';
import type { LaneName } from './batch-call.js';
import { broken, differ, type Model } from './model.js';

interface MessageRow {
  lane: LaneName;
  message_id: string;
  stream_key: string;
  is_stream_event: boolean;
  status: number;
  attempts: number;
  sequence_order: number;
  instance_id: string | null;
  held: boolean;
  partition_number: number | null;
}

interface StreamRow {
  lane: LaneName;
  stream_id: string;
  instance_id: string | null;
  held: boolean;
  head: number;
  held_through: number;
  below_floor: boolean;
}

export interface Snapshot {
  readonly now: number;
  readonly messages: MessageRow[];
  readonly streams: StreamRow[];
  readonly floors: Record<LaneName, number>;
  readonly dead: { source: LaneName; message_id: string }[];
  readonly events: { event_id: string; stream_id: string; version: number }[];
  readonly versions: Record<string, number>;
}

const messagesOf = (lane: LaneName) => `
  select '${lane}' as lane, message_id, stream_key, is_event and stream_id is not null as is_stream_event, status, attempts,
         sequence_order, instance_id, coalesce(lease_expiry > now.at, false) as held, partition_number
  from wh_${lane}, now where processed_at is null`;

const look = `
  with now as materialized (select clock_timestamp() as at)
  select json_build_object(
    'now', (select extract(epoch from at) * 1000 from now),
    'messages', (select coalesce(json_agg(m), '[]') from (${messagesOf('outbox')} union all ${messagesOf('inbox')}) m),
    'streams', (select coalesce(json_agg(s), '[]') from (
      select s.lane, s.stream_id, s.instance_id, coalesce(s.lease_expiry > now.at, false) as held, s.head, s.held_through,
             case when s.instance_id is null then s.available_at < l.free_from else s.lease_expiry < l.leased_from end as below_floor
      from wh_active_streams s join wh_lanes l using (lane), now) s),
    'floors', (select json_object_agg(lane, admitted_below) from wh_lanes),
    'dead', (select coalesce(json_agg(json_build_object('source', source, 'message_id', message_id)), '[]') from wh_dead_letters),
    'events', (select coalesce(json_agg(json_build_object('event_id', event_id, 'stream_id', stream_id, 'version', version) order by version), '[]') from wh_event_store),
    'versions', (select coalesce(json_object_agg(stream_id, version), '{}') from wh_event_streams)
  ) as snapshot`;

export async function takeSnapshot(client: pg.Client | pg.Pool): Promise<Snapshot> {
  const { rows } = await client.query<{ snapshot: Snapshot }>(look);
  return (rows[0] as { snapshot: Snapshot }).snapshot;
}

/** Nothing is lost, nobody holds what it must not: the tables against the model. */
export function checkPromises(snapshot: Snapshot, model: Model): void {
  const expected = model.unfinished();
  if (snapshot.messages.length !== expected.length) {
    const there = new Set(snapshot.messages.map(({ lane, message_id }) => `${lane} ${message_id}`));
    const lost = expected.filter(({ lane, id }) => !there.has(`${lane} ${id}`));
    const known = new Set(expected.map(({ lane, id }) => `${lane} ${id}`));
    const extra = [...there].filter((message) => !known.has(message));
    broken('messages are lost, or there that should not be', { lost, extra });
  }
  const holders = new Map<string, string>();
  for (const row of snapshot.messages) {
    const message = model.find(row.lane, row.message_id);
    if (message?.fate !== 'unfinished') broken('a message is there that should not be', { row, message });
    if (row.attempts !== message.attempts || differ(row.status, message))
      broken('a row is wrong', { row, message });
    const holder = row.held ? row.instance_id : null;
    if (holder !== (model.isHeld(message) ? message.holder : null))
      broken('the holder is wrong', { row, message });
    if (holder === null) continue;
    const stream = `${row.lane} ${row.stream_key}`;
    if ((holders.get(stream) ?? holder) !== holder) broken('two instances hold one stream', { row, message });
    holders.set(stream, holder);
  }
  const dead = [...model.messages.values()].filter(({ fate }) => fate === 'dead');
  for (const { lane, id } of dead) {
    if (!snapshot.dead.some((row) => row.source === lane && row.message_id === id))
      broken('a dead letter is lost', { lane, id });
  }
}

/** Versions have neither gaps nor doubles, and an event that somebody holds is in the store. */
export function checkEvents(snapshot: Snapshot): void {
  const next: Record<string, number> = {};
  const stored = new Set<string>();
  for (const { event_id, stream_id, version } of snapshot.events) {
    const expected = (next[stream_id] ?? 0) + 1;
    if (version !== expected)
      broken('a version is missing or double', { event_id, stream_id, version, expected });
    next[stream_id] = version;
    stored.add(event_id);
  }
  for (const [stream_id, version] of Object.entries(snapshot.versions)) {
    if (version !== (next[stream_id] ?? 0))
      broken('the version of a stream is wrong', { stream_id, version, next });
  }
  for (const row of snapshot.messages) {
    if (!row.is_stream_event) continue;
    const appended = stored.has(row.message_id);
    if (row.held && !appended) broken('an event is held before it is appended', row);
    if ((row.status & 2) !== 0 && !appended) broken('an event says it is stored and is not', row);
  }
}

/** The mechanism's own rules: what the searches rely on. */
export function checkMechanism({ messages, streams, floors }: Snapshot): void {
  const byStream = new Map(streams.map((stream) => [`${stream.lane} ${stream.stream_id}`, stream]));
  for (const row of messages) {
    const stream = byStream.get(`${row.lane} ${row.stream_key}`);
    const floor = floors[row.lane];
    if (row.partition_number === null) {
      const isBehind = stream !== undefined && row.sequence_order >= stream.head;
      const appends = row.is_stream_event && (row.status & 2) === 0;
      if (row.sequence_order < floor && (!isBehind || appends))
        broken('an unadmitted message that nobody would find lies below the floor', { row, stream, floor });
      if (row.instance_id !== null) broken('an unadmitted message is held', row);
      continue;
    }
    if (stream === undefined) broken('an admitted message has no stream row', row);
    if (row.sequence_order < stream.head) broken('a message lies below its stream’s head', { row, stream });
    if (row.instance_id === null) continue;
    if (row.instance_id !== stream.instance_id)
      broken('a message and its stream have different holders', { row, stream });
    if (row.sequence_order > stream.held_through)
      broken('a held message lies above held_through', { row, stream });
    if (row.held && !stream.held) broken('a lease outlives that of its stream', { row, stream });
  }
  const below = streams.find((stream) => stream.below_floor);
  if (below !== undefined) broken('a stream lies below the floor', below);
}

/** What was appended since the snapshot before follows everything of its stream and lane that was there and lies before it. */
export function checkEventOrder(before: Snapshot, { events }: Snapshot, model: Model): void {
  const old = new Set(before.events.map(({ event_id }) => event_id));
  const versions = new Map(events.map(({ event_id, version }) => [event_id, version]));
  const all = [...model.messages.values()].filter(
    ({ isEvent, fate }) => isEvent && fate !== 'open' && fate !== 'rolled back',
  );
  for (const later of all) {
    const version = versions.get(later.id);
    if (version === undefined || old.has(later.id)) continue;
    const earlier = all.filter(
      ({ lane, key, order }) => lane === later.lane && key === later.key && order < later.order,
    );
    const overtaken = earlier.find(({ id }) => (versions.get(id) ?? Number.POSITIVE_INFINITY) > version);
    if (overtaken !== undefined)
      broken('an event is overtaken in the event store', { later, version, overtaken });
  }
}
