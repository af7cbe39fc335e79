-- Stores new messages and admits arrivals. It tries again if another call opens one of the same streams, or stores or
-- notes one of the same ids, at the same moment: those rows are committed then, and the next try finds them.
-- If many calls do that all the time it might never end. So after three tries it opens no streams, and what it stores
-- is left unadmitted, like a plain insert.
-- A subtransaction costs less than `on conflict` on every row (see wh_open_streams_{lane}).
-- Locks: as wh_store_one_{lane} or wh_try_store; a failed try releases its locks.
-- Reads by: as the functions that it calls.
-- Raises: WB002; serialization_failure after 20 tries.
-- Called by: process_work_batch, wh_settle_one, wh_store_aside
create or replace function wh_store(
  c wh_call, p_outbox wh_new_message[], p_inbox wh_new_message[], p_outbox_arrivals wh_arrival[], p_inbox_arrivals wh_arrival[],
  p_outbox_held wh_open_stream[], p_inbox_held wh_open_stream[], p_outbox_room int, p_inbox_room int, p_has_events boolean, p_has_scheduled boolean
)
returns wh_stored
language plpgsql
as $$
declare
  c_patience constant int := 3;
  r wh_stored;
begin
  for v_try in 1..20 loop
    begin
      if v_try > 1 then
        perform wh_forget_finished_outbox(p_outbox);
        perform wh_forget_finished_inbox(p_inbox);
      elsif cardinality(p_outbox) + cardinality(p_inbox) = 1 and not p_has_events and not p_has_scheduled
        and p_outbox_arrivals = '{}' and p_inbox_arrivals = '{}' and c.max_partitions is null
        and (c.outbox_ranked or c.inbox_ranked or c.inbox_late) is not true
      then
        r.outbox_leased := case when p_outbox <> '{}' and p_outbox_room > 0 then wh_store_one_outbox(c, p_outbox[1]) end;
        r.inbox_leased := case when p_inbox <> '{}' and p_inbox_room > 0 and (p_inbox[1]).target <> all(c.inbox_handlers) is not true
          then wh_store_one_inbox(c, p_inbox[1]) end;
        if r.outbox_leased is not null or r.inbox_leased is not null then
          return r;
        end if;
      end if;
      return wh_try_store(c, p_outbox, p_inbox, p_outbox_arrivals, p_inbox_arrivals, p_outbox_held, p_inbox_held,
        case when v_try <= c_patience then p_outbox_room else 0 end, case when v_try <= c_patience then p_inbox_room else 0 end,
        p_has_events, p_has_scheduled);
    exception
      when unique_violation then null;
    end;
  end loop;
  raise exception using
    errcode = 'serialization_failure',
    message = 'process_work_batch: other calls kept storing the same messages or opening the same streams',
    hint = 'Nothing was changed. Send the call again.';
end
$$;
