-- The claim of a call: looks at due streams again until its room is full or there are no more.
-- A look may find only streams to put in order: blocked, empty, or left to instances that have a handler. It looks on
-- behind them, for a second at most, so that many of those do not hide what the caller can run. is_cut: there may be
-- more.
-- If streams were left to instances that have a handler, it notifies all sleeping workers.
-- Locks: as wh_claim_{lane}; it never waits.
-- Reads by: as wh_claim_{lane}.
-- Raises: none
-- Called by: process_work_batch
create or replace function wh_claim_all_{lane}(c wh_call, p_room int, p_appended uuid[], p_next uuid[])
returns wh_claimed
language plpgsql
as $$
declare
  c_most constant int := 500;
  v_size int := p_room;
  r wh_claimed := wh_claim_{lane}(c, p_room, p_room, p_appended, p_next);
  v_look wh_claimed;
  v_until timestamptz;
begin
  v_look := r;
  while v_look.tidied_streams > 0 and cardinality(r.message_ids) < p_room loop
    v_until := coalesce(v_until, clock_timestamp() + interval '1 second');
    if clock_timestamp() > v_until then
      r.is_cut := true;
      exit;
    end if;
    v_size := {next_look};
    if v_look.limits <> '{}' then
      c := wh_spend_limits(c, v_look.limits);
    end if;
    v_look := wh_claim_{lane}(c, p_room - cardinality(r.message_ids), v_size, p_appended, '{}');
    r.message_ids := r.message_ids || v_look.message_ids;
    r.left_streams := r.left_streams + v_look.left_streams;
  end loop;
  if r.left_streams > 0 then
    perform wh_notify_all();
  end if;
  return r;
end
$$;
