// The words in braces in sql/**/*.sql, and the text that is installed for them. A name explains what a number
// means; a fragment is text that has to be the same in several statements. They are text and not functions,
// so that plans stay as they are. Those that the claim and explain share are files: see sql-fragments.mjs.
import { readFragments } from './sql-fragments.mjs';

/** Bits and numbers. test/architecture/sql-words.test.ts compares the bits with src/message.ts. */
export const constants = {
  // MessageProcessingStatus
  Stored: 1,
  EventStored: 2,
  Published: 4,
  ReceptorProcessed: 8,
  PerspectiveProcessed: 16,
  GivenUp: 32,
  Failed: 32768,
  // WorkBatchFlags
  NewlyStored: 1,
  Orphaned: 2,
  DebugMode: 4,
  HighPriority: 16,
  RetryAfterFailure: 32,
  LeaseLost: 64,
  LookAgain: 128,
  Direct: 256,
  Continues: 512,
  Duplicate: 1024,
  /** NewlyStored, Orphaned, RetryAfterFailure and Continues: each is set only where a message is handed out. */
  WasHandedOut: 547,
  /** ReceptorProcessed and PerspectiveProcessed. */
  BothStages: 24,
  /** The largest bigint. In held_through: all that is in the stream, and all that is added later. */
  Everything: '9223372036854775807',
  /** The largest int. As an ord: behind every message of a call. */
  LargestInt: 2147483647,
  /** Ten years in seconds. Later times are cut to this, so that no sum overflows. */
  TenYears: 315_360_000,
  /**
   * Advisory locks: the session that keeps the watch holds the first, a session that sleeps under a watch the
   * second.
   */
  WatchLock: 1463965489,
  SleepLock: 1463965490,
  /** Advisory lock: who makes ticks holds it until its transaction ends. */
  TickLock: 1463965491,
  /** Advisory lock: who sends due timers holds it until its transaction ends. */
  TimerLock: 1463965492,
  /** The status of a bar, a row that pauses its stream, and its sequence_order: before every message. */
  Bar: 0,
  BarOrder: 0,
  /** How many rows of wh_order_violations are kept. */
  KeptViolations: 10_000,
  /** How many blocks of wh_message_deduplication one step of retention reads: some 4 000 ids. */
  ExpiredBlocks: 32,
  /** The id of no instance. In wh_subscriptions: of the instance that will come, as somebody has declared. */
  ExpectedInstance: `'00000000-0000-0000-0000-000000000000'`,
  /** The most events of a tick that is made. What is merged may have up to twice as many. */
  TickSize: 1000,
};

/** In the fragments, `m` is the message, `s` its stream row, `k` the key of a stream, `c` the call. */
const fragments = {
  ...readFragments(),
  /**
   * No unfinished message of the stream is below: none is below its head, except those that are not admitted
   * yet.
   */
  from_first_unfinished:
    'm.sequence_order >= least(s.head, (select wh_first_unadmitted_{lane}(c.{lane}_floor))) and m.processed_at is null',
  /**
   * The row of the stream `k`. Of its versions the newest is met first, however many an old snapshot keeps; see
   * docs/internals/mechanism.md#plans-that-hold.
   */
  newest_version: `(
      select s.* from wh_active_streams s
      where (s.stream_id, s.lane) between (k.stream_id, '{lane}') and (k.stream_id, '{lane}')
      order by s.stream_id desc, s.lane desc limit 1)`,
  /** Nobody holds it, nobody has tried it or was interrupted at it, and it is not in the event store. */
  not_begun:
    'm.instance_id is null and m.processed_at is null and m.attempts = 0 and m.status = {Stored} and m.flags & {Orphaned} = 0',
  /** The streams to settle, each with the places of the first and the last message that the call has finished there. */
  streams_to_settle: `(
      select g.stream_id, min(g.done) as first_done, max(g.done) as last_done
      from (
        select unnest(p_stream_ids) as stream_id, null::bigint as done
        union all
        select unnest((p_reported.finished).stream_ids), unnest((p_reported.finished).orders)
      ) g
      group by g.stream_id
      having bool_or(g.done is null))`,
  /**
   * What was finished lies below the head of its stream, or behind the first unfinished message `f` of its stream, which was handed out before: not
   * behind one whose transaction committed late.
   */
  is_disordered: `({head_is_old} and k.first_done < s.head or k.last_done > f.sequence_order and (
        f.instance_id is not null or f.attempts > 0 or f.flags & {WasHandedOut} <> 0 or f.message_id = any(p_reported.kept))) is true`,
  /** The head of the stream is as it was when the call began: where a call sets it, it also sets this lease. */
  head_is_old: 's.lease_expiry is distinct from c.lease_expiry',
  /** How many of a hundred streams are kept in the history: bits 16 to 22 of the flags of a call. */
  history_of_flags: 'p_flags >> 16 & 127',
  /** Its priority. Null: 0, which is also what a plain insert may say. */
  priority: 'nullif(m.priority, 0)',
  /**
   * What the free stream `s` waits for, whose waits_for is not null: `paused`, `limited` or `no-handler`; or `due`, if
   * an instance takes it with its next call, or if none lives that could say. The one source for views and tools. It
   * goes by what living instances have, not by what they ask for at the moment. A limit with a key is named after the
   * handler, U+001F, and the key.
   */
  state_of_waiting: `(
      select case
        when (select l.paused && array['', w.handler] from wh_lanes l where l.lane = 'inbox') then 'paused'
        when bool_or(i.inbox_handlers is null or w.handler = any(i.inbox_handlers)) then 'due'
        when bool_or(i.inbox_limits ? w.handler) then 'limited'
        else 'no-handler' end
      from (select split_part(s.waits_for, chr(31), 1) as handler) w
      left join wh_service_instances i on i.takes_inbox
        and i.last_heartbeat_at >= clock_timestamp() - make_interval(secs => i.stale_threshold_seconds)
      group by w.handler)`,
  /** An operator has paused the intake, and so all that is due in the inbox. */
  intake_is_paused: `coalesce((select '' = any(l.paused) from wh_lanes l where l.lane = 'inbox'), false)`,
  /** It is an event, and the event store does not have it yet. */
  is_unappended: 'm.is_event and m.stream_id is not null and m.status & {EventStored} = 0',
  /**
   * Seals the events of `seen` behind the last tick `l`, with the marks of `marks`. More than TickSize events become
   * several ticks, by their numbers: so each can be skipped by its types.
   */
  insert_ticks: `insert into wh_event_ticks (tick, first_tick, next_xid, open, restored_through, covers, high, types, events, is_late)
  select coalesce(l.tick, 0) + 1 + s.slice, coalesce(l.tick, 0) + 1 + s.slice, m.next_xid, m.open, m.restored_through,
         s.covers, greatest(l.high, s.high), s.types, s.events, m.is_late
  from (
    select n.slice, range_agg(int8range(n.sequence_number, n.sequence_number, '[]')) as covers, max(n.sequence_number) as high,
           array_agg(distinct n.event_type) as types, count(*) as events
    from (select s.*, (row_number() over (order by s.sequence_number) - 1) / {TickSize} as slice from seen s) n
    group by n.slice
  ) s
  cross join marks m
  order by s.slice`,
};

/** A file named `x.lane.sql` is written once and installed twice. */
export const lanes = [
  {
    lane: 'outbox',
    target: 'destination',
    stored_at: 'created_at',
    waits_for: 'null::text',
    waits_at: 'null::text',
    /** The caller can run it as it is: only an event has to be appended before, behind those of the inbox. */
    can_run: '(m.is_event and m.stream_id is not null) is not true',
    back_to_handler: '',
  },
  {
    lane: 'inbox',
    target: 'handler_name',
    stored_at: 'received_at',
    /** What the caller lacks to run the message: its handler, or room at a limit. Null: nothing. */
    waits_for: `case when m.handler_name <> all(c.inbox_handlers)
               and (k.stream_id <> all(v_due.limited) or coalesce(m.waits_at, m.handler_name) <> all(c.inbox_limits))
             then coalesce(m.waits_at, m.handler_name) end`,
    /** The limit with its key at which it was left. */
    waits_at: 'm.waits_at',
    can_run: '(c.inbox_handlers is null or m.handler_name = any(c.inbox_handlers)) and m.waits_at is null',
    /** One that failed waits at its handler again: it may have another key by then. */
    back_to_handler: ', waits_at = null',
  },
];

/** Returns the text with its words replaced. An unknown word is left unchanged: `'{}'` is an empty array. */
export function withWords(text, words) {
  return text.replace(/\{(\w+)\}/g, (whole, word) => {
    if (word in fragments) return withWords(fragments[word], words);
    return String(words[word] ?? constants[word] ?? whole);
  });
}
