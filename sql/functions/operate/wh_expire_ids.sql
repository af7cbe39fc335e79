-- Forgets the ids before p_before in a few blocks of wh_message_deduplication, from p_block on, with what receptors
-- have reported on them. An id whose message is still in the inbox or a dead letter stays. Returns how many.
-- Blocks, and not an index by time: that would cost every message that arrives, also of who keeps all ids.
-- Locks: rows that it deletes.
-- Reads by: a range of ctid; primary keys; wh_dead_letters_message.
-- Raises: none
-- Called by: wh_expire
create or replace function wh_expire_ids(p_block bigint, p_before timestamptz)
returns int
language plpgsql
-- Only the blocks are read, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set enable_seqscan = off
as $$
declare
  v_from tid := format('(%s,0)', p_block)::tid;
  v_to tid := format('(%s,0)', p_block + {ExpiredBlocks})::tid;
  v_ids uuid[] := array(
    select d.message_id from wh_message_deduplication d
    where d.ctid >= v_from and d.ctid < v_to and d.first_seen_at < p_before);
begin
  v_ids := array(
    select u.id from unnest(v_ids) u(id)
    where not exists (select from wh_inbox m where m.message_id = u.id and m.processed_at is null)
      and not exists (select from wh_dead_letters l where l.message_id = u.id)
    order by u.id);
  if v_ids <> '{}' then
    delete from wh_receptor_processing r where r.event_id = any(v_ids);
    delete from wh_message_deduplication d where d.message_id = any(v_ids);
  end if;
  return cardinality(v_ids);
end
$$;
