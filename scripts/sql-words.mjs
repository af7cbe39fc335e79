// The words in braces in sql/**/*.sql, and the text that is installed for them. A name explains what a number
// means; a fragment is text that has to be the same in several statements. They are text and not functions,
// so that plans stay as they are.

/** Bits and numbers. test/architecture/sql-words.test.ts compares the bits with src/message.ts. */
export const constants = {
  // MessageProcessingStatus
  Stored: 1,
  EventStored: 2,
  Published: 4,
  ReceptorProcessed: 8,
  PerspectiveProcessed: 16,
  Failed: 32768,
  // WorkBatchFlags
  NewlyStored: 1,
  Orphaned: 2,
  DebugMode: 4,
  RetryAfterFailure: 32,
  LeaseLost: 64,
  LookAgain: 128,
  Direct: 256,
  Continues: 512,
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
  /** The most events of a tick that is made. What is merged may have up to twice as many. */
  TickSize: 1000,
};

/** In the fragments, `m` is the message, `s` its stream row, `k` the key of a stream, `c` the call. */
const fragments = {
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
  { lane: 'outbox', target: 'destination', stored_at: 'created_at' },
  { lane: 'inbox', target: 'handler_name', stored_at: 'received_at' },
];

/** Returns the text with its words replaced. An unknown word is left unchanged: `'{}'` is an empty array. */
export function withWords(text, words) {
  return text.replace(/\{(\w+)\}/g, (whole, word) => {
    if (word in fragments) return withWords(fragments[word], words);
    return String(words[word] ?? constants[word] ?? whole);
  });
}
