-- Returns those of these new messages that depend on no inbox message, or on one for which the call's report was
-- accepted. What a handler sent is stored with its report or not at all: a late report changes nothing.
-- p_reported: the inbox messages that the call reports on. p_lost: those of them that the caller does not hold.
-- Locks: none
-- Reads by: no table
-- Raises: WB001 if a message depends on one that is not reported on.
-- Called by: process_work_batch
create or replace function wh_pick_accepted_messages(p_messages wh_new_message[], p_reported uuid[], p_lost uuid[])
returns wh_new_message[]
language plpgsql
as $$
declare
  v_unknown uuid := (select m.only_with from unnest(p_messages) m where m.only_with is not null and m.only_with <> all(p_reported) limit 1);
begin
  if v_unknown is not null then
    perform wh_refuse('p_new_outbox_messages.only_with', format('is %s, an inbox message that this call does not report on', v_unknown));
  end if;
  return array(select m::wh_new_message from unnest(p_messages) m where m.only_with <> all(p_lost) is not false order by m.ord);
end
$$;
