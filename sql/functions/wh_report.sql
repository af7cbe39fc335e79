-- Takes in what the caller reports on messages, in both lanes: locks the streams concerned, in one order, then
-- applies. Empty input touches no table. Raises WB001.
create or replace function wh_report(
  c wh_call,
  p_outbox_completions jsonb, p_outbox_failures jsonb, p_renew_outbox_lease_ids uuid[],
  p_inbox_completions jsonb, p_inbox_failures jsonb, p_renew_inbox_lease_ids uuid[]
)
returns wh_reported
language plpgsql
as $$
declare
  r wh_reported;
  v_outbox wh_completion[] := wh_parse_completions('p_outbox_completions', p_outbox_completions);
  v_inbox wh_completion[] := wh_parse_completions('p_inbox_completions', p_inbox_completions);
  v_outbox_failures wh_failure[] := wh_parse_failures('p_outbox_failures', p_outbox_failures);
  v_inbox_failures wh_failure[] := wh_parse_failures('p_inbox_failures', p_inbox_failures);
  v_outbox_ids uuid[] := wh_reported_ids(v_outbox, v_outbox_failures);
  v_inbox_ids uuid[] := wh_reported_ids(v_inbox, v_inbox_failures);
  v_outbox_renewed uuid[] := wh_parse_renewals('p_renew_outbox_lease_ids', p_renew_outbox_lease_ids, v_outbox_ids);
  v_inbox_renewed uuid[] := wh_parse_renewals('p_renew_inbox_lease_ids', p_renew_inbox_lease_ids, v_inbox_ids);
begin
  select l.outbox_held, l.inbox_held into r.outbox_held, r.inbox_held
  from wh_lock_reported(c.instance_id,
    wh_streams_of_outbox(c.instance_id, v_outbox_ids || v_outbox_renewed),
    wh_streams_of_inbox(c.instance_id, v_inbox_ids || v_inbox_renewed)) l;
  if cardinality(v_outbox_ids) + cardinality(v_outbox_renewed) > 0 then
    select o.lost, o.cooling into r.outbox_lost, r.outbox_cooling
    from wh_report_outbox(c, v_outbox, v_outbox_failures, v_outbox_renewed) o;
  end if;
  if cardinality(v_inbox_ids) + cardinality(v_inbox_renewed) > 0 then
    select i.lost, i.cooling into r.inbox_lost, r.inbox_cooling
    from wh_report_inbox(c, v_inbox, v_inbox_failures, v_inbox_renewed) i;
  end if;
  return r;
end
$$;
