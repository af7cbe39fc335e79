-- The claim of a caller that has handlers for some messages of the inbox only. Streams whose first message it cannot run are
-- left to others, once each; it looks on behind them, so that a crowd of them does not hide what it can run, but not for
-- ever. Whoever has those handlers may sleep, and is woken.
-- Locks: as wh_claim_inbox. It never waits.
create or replace function wh_claim_handled(c wh_call, p_room int, p_appended uuid[], p_next uuid[])
returns uuid[]
language plpgsql
as $$
declare
  c_most_left constant int := 1000;
  c_most_looks constant int := 100;
  v_claimed wh_claimed;
  v_message_ids uuid[] := '{}';
  v_left int := 0;
begin
  for v_look in 1..c_most_looks loop
    v_claimed := wh_claim_inbox(c, p_room - cardinality(v_message_ids), p_appended, case when v_look = 1 then p_next else '{}' end);
    v_message_ids := v_message_ids || v_claimed.message_ids;
    v_left := v_left + v_claimed.left_streams;
    exit when v_claimed.left_streams = 0 or v_left >= c_most_left or cardinality(v_message_ids) >= p_room;
  end loop;
  if v_left > 0 then
    perform wh_wake_all();
  end if;
  return v_message_ids;
end
$$;
