-- Writes what receptors report on events: one row per event and receptor. Bits accumulate, failures are counted.
-- It leaves out messages for which the call's own report was refused (p_lost): their receptors run again, at the
-- instance that holds them now.
-- Locks: rows of wh_receptor_processing by (event_id, receptor_name), waiting.
-- Reads by: primary key.
-- Raises: WB001
-- Called by: process_work_batch, wh_settle_one
create or replace function wh_record_receptors(p_completions jsonb, p_failures jsonb, p_lost uuid[])
returns void
language plpgsql
as $$
declare
  c_shape constant jsonb := '{"event_id": "uuid!", "receptor_name": "text!", "status": "status!", "error": "text"}';
begin
  perform wh_check_items('p_receptor_completions', p_completions, c_shape);
  perform wh_check_items('p_receptor_failures', p_failures, c_shape);
  insert into wh_receptor_processing as r (event_id, receptor_name, status, attempts, error, processed_at)
  select i.event_id, i.receptor_name, bit_or(i.status | case when i.failed then {Failed} else 0 end),
    count(*) filter (where i.failed), max(i.error), case when not bool_or(i.failed) then clock_timestamp() end
  from (
    select false as failed, * from jsonb_to_recordset(coalesce(p_completions, '[]')) as x(event_id uuid, receptor_name text, status int, error text)
    union all
    select true, * from jsonb_to_recordset(coalesce(p_failures, '[]')) as x(event_id uuid, receptor_name text, status int, error text)
  ) i
  where i.event_id <> all(p_lost)
  group by i.event_id, i.receptor_name
  order by i.event_id, i.receptor_name
  on conflict (event_id, receptor_name) do update
  set status = case when excluded.processed_at is not null then (r.status & ~{Failed}) | excluded.status else r.status | excluded.status end,
      attempts = r.attempts + excluded.attempts,
      error = case when excluded.processed_at is not null then null else excluded.error end,
      processed_at = coalesce(excluded.processed_at, r.processed_at);
end
$$;
