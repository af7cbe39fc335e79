-- Writes what perspectives report: how far each has come in each stream, never backwards, and where it failed.
-- Locks: rows of wh_perspective_checkpoints by (stream_id, perspective_name), waiting.
-- Reads by: primary key, events too.
-- Raises: WB001
-- Called by: process_work_batch
create or replace function wh_record_perspectives(p_completions jsonb, p_failures jsonb)
returns void
language plpgsql
-- Rows are looked up one by one, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  c_shape constant jsonb := '{"stream_id": "uuid!", "perspective_name": "text!", "last_event_id": "uuid", "status": "status!", "error": "text"}';
begin
  perform wh_check_items('p_perspective_completions', p_completions, c_shape);
  perform wh_check_items('p_perspective_failures', p_failures, c_shape);
  insert into wh_perspective_checkpoints as p (stream_id, perspective_name, last_event_id, last_version, status, error, updated_at)
  select i.stream_id, i.perspective_name, (array_agg(i.last_event_id order by e.version desc nulls last))[1], coalesce(max(e.version), 0),
    bit_or(i.status | case when i.failed then {Failed} else 0 end), max(i.error), clock_timestamp()
  from (
    select false as failed, * from jsonb_to_recordset(coalesce(p_completions, '[]')) as x(stream_id uuid, perspective_name text, last_event_id uuid, status int, error text)
    union all
    select true, * from jsonb_to_recordset(coalesce(p_failures, '[]')) as x(stream_id uuid, perspective_name text, last_event_id uuid, status int, error text)
  ) i
  -- A lateral join with a limit stays one probe per row; an exists may become a join over the whole table.
  left join lateral (select s.version from wh_events s where s.event_id = i.last_event_id and s.stream_id = i.stream_id limit 1) e on true
  group by i.stream_id, i.perspective_name
  order by i.stream_id, i.perspective_name
  on conflict (stream_id, perspective_name) do update
  set last_event_id = case when excluded.last_version >= p.last_version then coalesce(excluded.last_event_id, p.last_event_id) else p.last_event_id end,
      last_version = greatest(p.last_version, excluded.last_version),
      status = excluded.status,
      error = excluded.error,
      updated_at = excluded.updated_at;
end
$$;
