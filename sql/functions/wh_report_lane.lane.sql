-- Applies what the caller reports on messages it holds: completions, releases, failures, renewals.
-- Fenced: a message that another instance has taken, or that is gone, is left alone and named in `lost`.
-- `cooling`: streams with a message that was partly completed or failed; this call hands none of theirs out.
-- Locks: message rows of streams that wh_lock_reported has locked. Reads by primary key.
create or replace function wh_report_{lane}(
  c wh_call, p_completions wh_completion[], p_failures wh_failure[], p_renewed_ids uuid[],
  out lost uuid[], out cooling uuid[]
)
language plpgsql
set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  v_applied uuid[] := '{}';
  v_reported uuid[] := p_renewed_ids;
  v_completed uuid[] := '{}';
  v_group wh_completion;
  v_done uuid[];
  v_keys uuid[];
begin
  cooling := '{}';
  foreach v_group in array p_completions loop
    v_completed := v_completed || v_group.message_ids;
    v_done := wh_finish_{lane}(c, v_group.message_ids, v_group.status);
    v_applied := v_applied || v_done;
    if cardinality(v_done) < cardinality(v_group.message_ids) then
      with kept as (
        update wh_{lane} m
        set status = m.status | v_group.status, instance_id = null, lease_expiry = null
        where m.message_id = any(v_group.message_ids) and m.instance_id = c.instance_id and m.processed_at is null
        returning m.message_id, m.stream_key
      )
      select v_applied || coalesce(array_agg(k.message_id), '{}'),
             cooling || coalesce(array_agg(k.stream_key) filter (where v_group.status <> 0), '{}')
      into v_applied, cooling
      from kept k;
    end if;
  end loop;
  v_reported := v_reported || v_completed;

  if cardinality(p_failures) > 0 then
    v_reported := v_reported || array(select f.message_id from unnest(p_failures) f where f.message_id <> all(v_completed));
    v_applied := v_applied || wh_bury_{lane}(c, p_failures);
    with failed as (
      update wh_{lane} m
      set status = m.status | f.completed_status | 32768,
          attempts = m.attempts + 1,
          error = f.error,
          scheduled_for = c.now + make_interval(secs => case
            when f.retry_after_seconds is not null then least(greatest(f.retry_after_seconds, -315360000), 315360000)
            else least(300, power(2, least(m.attempts, 16)) * (0.75 + random() / 2))
          end),
          instance_id = null, lease_expiry = null
      from unnest(p_failures) f
      where m.message_id = f.message_id and m.instance_id = c.instance_id and m.processed_at is null
        and m.message_id <> all(v_completed)
      returning m.message_id, m.stream_key
    )
    select v_applied || coalesce(array_agg(f.message_id), '{}'), cooling || coalesce(array_agg(f.stream_key), '{}')
    into v_applied, cooling
    from failed f;
  end if;

  if cardinality(p_renewed_ids) > 0 then
    with renewed as (
      update wh_{lane} m
      set lease_expiry = greatest(m.lease_expiry, c.lease_expiry)
      where m.message_id = any(p_renewed_ids) and m.instance_id = c.instance_id and m.processed_at is null
      returning m.message_id, m.stream_key
    )
    select v_applied || coalesce(array_agg(r.message_id), '{}'), array_agg(distinct r.stream_key) into v_applied, v_keys from renewed r;
    update wh_active_streams s
    set lease_expiry = greatest(s.lease_expiry, c.lease_expiry)
    where s.lane = '{lane}' and s.stream_id = any(v_keys) and s.instance_id = c.instance_id;
  end if;

  lost := case when cardinality(v_applied) < cardinality(v_reported)
    then array(select unnest(v_reported) except select unnest(v_applied)) else '{}' end;
end
$$;
