-- The handlers that streams of the inbox wait for, also at their limits: how many streams wait (counted up to 10 001),
-- since when, and why: no-handler (no living instance has it), limited, paused, or due (an instance takes them with its
-- next call, or none lives that could say).
create or replace view wh_waiting_handlers as
with recursive waiting as (
  (select s.waits_for from wh_active_streams s
   where s.lane = 'inbox' and s.instance_id is null and s.waits_for is not null
   order by s.waits_for limit 1)
  union all
  -- A limit with a key is named after the handler, U+001F, and the key: the next handler comes behind all of them.
  select (
    select s.waits_for from wh_active_streams s
    where s.lane = 'inbox' and s.instance_id is null
      and s.waits_for >= (split_part(w.waits_for, chr(31), 1) || chr(32)) collate "C"
    order by s.waits_for limit 1)
  from waiting w
  where w.waits_for is not null
)
select s.handler, n.streams, n.since, {state_of_waiting} as state
from (select w.waits_for, split_part(w.waits_for, chr(31), 1) as handler from waiting w where w.waits_for is not null) s
cross join lateral (
  select count(*) as streams, min(f.available_at) as since
  from (
    select x.available_at from wh_active_streams x
    where x.lane = 'inbox' and x.instance_id is null
      and x.waits_for >= s.handler and x.waits_for < (s.handler || chr(32)) collate "C"
    order by x.waits_for limit 10001
  ) f
) n;
