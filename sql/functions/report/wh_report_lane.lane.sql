-- Applies what the caller reports on messages that it holds: completions, releases, failures, renewals.
-- A message that another instance has taken, or that is gone, is left alone and named in `lost`.
-- `cooling`: streams with a message that was partly completed or failed. This call hands out nothing of them.
-- Locks: message rows of streams that wh_lock_reported_{lane} has locked.
-- Reads by: primary key.
-- Raises: none
-- Called by: process_work_batch
create or replace function wh_report_{lane}(
  c wh_call, p_completions wh_completion[], p_failures wh_failure[], p_renewed uuid[], p_reported uuid[]
)
returns wh_reported
language plpgsql
as $$
declare
  r wh_reported := row('{}', '{}');
  v_applied uuid[] := '{}';
  v_kept wh_kept;
  v_group wh_completion;
begin
  if cardinality(p_reported) = 1 and wh_is_done_{lane}(0, p_completions[1].status) and not c.keeps_completed
    and p_failures = '{}' and p_renewed = '{}'
  then
    -- One message that is done, whatever its status: as wh_finish_{lane}, in half the time.
    delete from wh_{lane} m where m.message_id = p_reported[1] and m.instance_id = c.instance_id;
    r.lost := case when not found then p_reported else '{}' end;
    return r;
  end if;
  foreach v_group in array p_completions loop
    v_applied := v_applied || wh_finish_{lane}(c, v_group.message_ids, v_group.status);
    if cardinality(v_applied) < cardinality(p_reported) then
      v_kept := wh_complete_partly_{lane}(c, v_group.message_ids, v_group.status);
      v_applied := v_applied || v_kept.message_ids;
      r.cooling := r.cooling || case when v_group.status <> 0 then v_kept.stream_ids end;
    end if;
  end loop;
  if cardinality(p_failures) > 0 then
    v_applied := v_applied || wh_dead_letter_{lane}(c, p_failures);
    v_kept := wh_retry_{lane}(c, p_failures);
    v_applied := v_applied || v_kept.message_ids;
    r.cooling := r.cooling || v_kept.stream_ids;
  end if;
  if cardinality(p_renewed) > 0 then
    v_applied := v_applied || wh_renew_{lane}(c, p_renewed);
  end if;
  if cardinality(v_applied) < cardinality(p_reported) then
    r.lost := array(select unnest(p_reported) except select unnest(v_applied));
  end if;
  return r;
end
$$;
