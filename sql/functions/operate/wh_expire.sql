-- One step of retention: deletes ids that are older than p_deduplication_days, dead letters that are older than
-- p_dead_letter_days, and what operators did more than p_operation_days ago; null: none. At most one step a second, by
-- whichever instance comes first; a pass through all ids is followed by a pause of ten minutes.
-- Returns {ids, dead_letters, operations}: how many it deleted. Null: it is not the time, or another instance is at it.
-- Locks: the row of wh_retention, skip locked; then what it deletes.
-- Reads by: as wh_expire_ids, wh_expire_dead_letters and wh_expire_operations.
-- Raises: none
-- Called by: operate-functions.ts
create or replace function wh_expire(
  p_deduplication_days double precision, p_dead_letter_days double precision, p_operation_days double precision default null
)
returns jsonb
language plpgsql security definer
set search_path from current
as $$
declare
  v_block bigint;
  v_ids int := 0;
  v_dead_letters int := 0;
  v_operations int := 0;
  v_rests interval := interval '10 minutes';
begin
  select r.next_block into v_block
  from wh_retention r
  where r.rests_until <= clock_timestamp()
  order by r.next_block
  limit 1
  for update skip locked;
  if not found then
    return null;
  end if;
  if p_dead_letter_days is not null then
    v_dead_letters := wh_expire_dead_letters(clock_timestamp() - make_interval(secs => p_dead_letter_days * 86400));
  end if;
  if p_operation_days is not null then
    v_operations := wh_expire_operations(clock_timestamp() - make_interval(secs => p_operation_days * 86400));
  end if;
  if p_deduplication_days is not null then
    v_ids := wh_expire_ids(v_block, clock_timestamp() - make_interval(secs => p_deduplication_days * 86400));
    v_block := v_block + {ExpiredBlocks};
    if v_block * current_setting('block_size')::bigint >= pg_relation_size('wh_message_deduplication') then
      v_block := 0;
    end if;
  end if;
  if v_block > 0 or v_dead_letters > 0 or v_operations > 0 then
    v_rests := interval '0.9 seconds';
  end if;
  update wh_retention r set next_block = v_block, rests_until = clock_timestamp() + v_rests;
  return jsonb_build_object('ids', v_ids, 'dead_letters', v_dead_letters, 'operations', v_operations);
end
$$;
