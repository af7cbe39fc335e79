-- Marks plainly inserted messages as admitted, in streams that this call has opened or locked. Those that the claim has
-- leased meanwhile are marked already.
-- If the call has looked behind many unadmitted messages, it notes for a second how far, so that other calls continue
-- there.
-- A sleeping worker is notified when it admits messages that another instance owns, and leases them to nobody.
-- Locks: message rows of streams that the call has locked; the lane's row of wh_admission, skip locked.
-- Reads by: primary key.
-- Raises: none
-- Called by: process_work_batch
create or replace function wh_admit_{lane}(c wh_call, p_arrived wh_arrived, p_admitted wh_arrival[], p_leased uuid[])
returns void
language plpgsql
-- Rows are looked up one by one, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set enable_hashjoin = off set enable_mergejoin = off
as $$
begin
  if p_admitted <> '{}' then
    update wh_{lane} m
    set partition_number = a.partition_number,
        status = case when a.appends then m.status | {EventStored} else m.status end
    from unnest(p_admitted) a
    where m.message_id = a.message_id
      and m.partition_number is null;
  end if;
  if p_arrived.passed_to > c.{lane}_admit_from then
    update wh_admission a
    set admit_from = p_arrived.passed_to,
        until = case when a.until > c.now and a.admit_from = c.{lane}_admit_from then a.until else c.now + interval '1 second' end
    where a.lane = (select o.lane from wh_admission o where o.lane = '{lane}' for no key update skip locked);
  end if;
  if p_arrived.arrivals <> '{}' and wh_left_for_other_owners(p_admitted, p_leased, c.{lane}_rank, c.{lane}_instances) then
    perform wh_notify_watch();
  end if;
end
$$;
