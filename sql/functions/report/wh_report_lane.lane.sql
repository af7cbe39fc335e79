-- Applies what the caller reports on messages that it holds: completions, releases, failures, renewals.
-- A message that another instance has taken, or that is gone, is left alone and named in `lost`.
-- `cooling`: streams with a message that was partly completed or failed. This call hands out nothing of them.
-- `finished` and `kept` are for wh_settle_{lane}, which watches the order.
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
  r wh_reported := row('{}', '{}', null, '{}');
  v_applied uuid[] := '{}';
  v_kept wh_kept;
  v_done wh_finished;
  v_all wh_finished;
  v_stream_id uuid;
  v_order bigint;
  v_group wh_completion;
begin
  if cardinality(p_reported) = 1 and wh_is_done_{lane}(0, p_completions[1].status) and not c.keeps_completed and c.history = 0
    and p_failures = '{}' and p_renewed = '{}'
  then
    -- One message that is done, whatever its status: as wh_finish_{lane}, in half the time.
    delete from wh_{lane} m where m.message_id = p_reported[1] and m.instance_id = c.instance_id
    returning m.stream_key, m.sequence_order into v_stream_id, v_order;
    if found then
      r.finished := row(p_reported, array[v_stream_id], array[v_order])::wh_finished;
    else
      r.lost := p_reported;
    end if;
    return r;
  end if;
  foreach v_group in array p_completions loop
    v_done := wh_finish_{lane}(c, v_group.message_ids, v_group.status);
    v_applied := v_applied || v_done.message_ids;
    v_all := row(v_all.message_ids || v_done.message_ids, v_all.stream_ids || v_done.stream_ids, v_all.orders || v_done.orders)::wh_finished;
    if cardinality(v_applied) < cardinality(p_reported) then
      v_kept := wh_complete_partly_{lane}(c, v_group.message_ids, v_group.status);
      v_applied := v_applied || v_kept.message_ids;
      r.kept := r.kept || v_kept.message_ids;
      r.cooling := r.cooling || case when v_group.status <> 0 then v_kept.stream_ids end;
    end if;
  end loop;
  r.finished := v_all;
  if cardinality(p_failures) > 0 then
    v_applied := v_applied || wh_dead_letter_{lane}(c, p_failures);
    v_kept := wh_retry_{lane}(c, p_failures);
    v_applied := v_applied || v_kept.message_ids;
    r.kept := r.kept || v_kept.message_ids;
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
