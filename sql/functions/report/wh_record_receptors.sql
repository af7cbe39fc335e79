-- Writes what receptors report on events: one row per event and receptor. Bits accumulate, failures are counted, or set
-- to what the report says. A failure says when the receptor is tried again, or that it is given up.
-- It leaves out messages for which the call's own report was refused (p_lost): their receptors run again, at the
-- instance that holds them now.
-- Locks: rows of wh_receptor_processing by (event_id, receptor_name), waiting.
-- Reads by: primary key.
-- Raises: WB001
-- Called by: process_work_batch, wh_settle_one
create or replace function wh_record_receptors(p_now timestamptz, p_completions jsonb, p_failures jsonb, p_lost uuid[])
returns void
language plpgsql
as $$
declare
  c_shape constant jsonb := '{"event_id": "uuid!", "receptor_name": "text!", "status": "status!", "error": "text", "attempt": "count",
    "took_seconds": "number", "retry_after_seconds": "number", "given_up": "boolean"}';
begin
  perform wh_check_items('p_receptor_completions', p_completions, c_shape);
  perform wh_check_items('p_receptor_failures', p_failures, c_shape);
  with reports as (
    select i.event_id, i.receptor_name, bool_or(i.failed) as failed, bit_or(i.status) as status, max(i.error) as error, max(i.attempt) as attempt,
      count(*) filter (where i.failed) as failures, coalesce(max(i.took_seconds), 0) as took_seconds,
      min(i.retry_after_seconds) filter (where i.failed) as retry_after_seconds, bool_or(i.failed and i.given_up) as given_up
    from (
      select false as failed, * from jsonb_to_recordset(coalesce(p_completions, '[]')) as x(event_id uuid, receptor_name text, status int,
        error text, attempt int, took_seconds double precision, retry_after_seconds double precision, given_up boolean)
      union all
      select true, * from jsonb_to_recordset(coalesce(p_failures, '[]')) as x(event_id uuid, receptor_name text, status int,
        error text, attempt int, took_seconds double precision, retry_after_seconds double precision, given_up boolean)
    ) i
    where i.event_id <> all(p_lost)
    group by i.event_id, i.receptor_name
  )
  insert into wh_receptor_processing as r
    (event_id, receptor_name, status, attempts, error, started_at, processed_at, retry_at, given_up_at)
  select n.event_id, n.receptor_name, n.status | case when n.failed then {Failed} else 0 end,
    coalesce(n.attempt - (not n.failed)::int, n.failures), n.error,
    p_now - make_interval(secs => least(greatest(n.took_seconds, 0), {TenYears})),
    case when not n.failed then p_now end,
    case when n.retry_after_seconds is not null then p_now + make_interval(secs => least(greatest(n.retry_after_seconds, 0), {TenYears})) end,
    case when n.given_up then p_now end
  from reports n
  order by n.event_id, n.receptor_name
  on conflict (event_id, receptor_name) do update
  set status = case when excluded.processed_at is not null then (r.status & ~{Failed}) | excluded.status else r.status | excluded.status end,
      attempts = excluded.attempts + coalesce(
        (select 0 from reports n where n.event_id = r.event_id and n.receptor_name = r.receptor_name and n.attempt is not null), r.attempts),
      error = case when excluded.processed_at is not null then null else excluded.error end,
      started_at = excluded.started_at,
      processed_at = coalesce(excluded.processed_at, r.processed_at),
      retry_at = excluded.retry_at,
      given_up_at = excluded.given_up_at;
end
$$;
