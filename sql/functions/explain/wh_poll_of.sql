-- Makes the record of a call that this instance would make now: with the parameters of its last one, and with nothing
-- to report or to store.
-- Locks: none
-- Reads by: primary key; as wh_rank_caller; the first entries of wh_outbox_unadmitted and wh_inbox_unadmitted.
-- Raises: none
-- Called by: wh_explain_instances_{lane}
create or replace function wh_poll_of(i wh_service_instances, p_now timestamptz)
returns wh_call
language plpgsql stable
as $$
declare
  c wh_call;
  v_now timestamptz := p_now;
begin
  c.instance_id := i.instance_id;
  c.opened_at := v_now;
  c.now := v_now;
  c.lease_seconds := i.lease_seconds;
  c.inbox_handlers := i.inbox_handlers;
  c.outbox_spare := coalesce(i.outbox_spare, 0);
  c.inbox_spare := coalesce(i.inbox_spare, 0);
  c.partition_count := i.partition_count;
  c.max_partitions := i.max_partitions;
  c.takeover_seconds := least(coalesce(i.takeover_seconds, 5), {TenYears});
  select o.admitted_below, o.free_from, o.leased_from, n.admitted_below, n.free_from, n.leased_from
  into c.outbox_floor, c.outbox_free_from, c.outbox_leased_from, c.inbox_floor, c.inbox_free_from, c.inbox_leased_from
  from (select l.admitted_below, {floor_of_time} from wh_lanes l where l.lane = 'outbox') o,
       (select l.admitted_below, {floor_of_time} from wh_lanes l where l.lane = 'inbox') n;
  c.outbox_arrived := coalesce(i.outbox_room, 0) > 0 and wh_first_unadmitted_outbox(c.outbox_floor) is not null;
  c.inbox_arrived := coalesce(i.inbox_room, 0) > 0 and wh_first_unadmitted_inbox(c.inbox_floor) is not null;
  c := wh_rank_caller(c, i.stale_threshold_seconds);
  if i.inbox_limits is not null then
    c := wh_parse_limits(c, i.inbox_limits);
  end if;
  c.paused := (select l.paused from wh_lanes l where l.lane = 'inbox');
  if c.paused is not null then
    c := wh_without_paused(c);
  end if;
  return c;
end
$$;
