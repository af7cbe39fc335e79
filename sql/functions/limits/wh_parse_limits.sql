-- Writes the limits that a call asks of into it: names, and how many streams it may take of each. A name with a null
-- or something that is not a whole number refuses the call.
-- Locks: none
-- Reads by: no table
-- Raises: WB001
-- Called by: process_work_batch, wh_poll_of
create or replace function wh_parse_limits(c wh_call, p_limits jsonb)
returns wh_call
language plpgsql immutable
as $$
declare
  v_bad text;
begin
  if jsonb_typeof(p_limits) <> 'object' then
    perform wh_refuse('p_inbox_limits', format('is %s, an object is needed', jsonb_typeof(p_limits)));
  end if;
  select min(l.key) filter (where l.value::text !~ '^[0-9]{1,9}$') into v_bad from jsonb_each(p_limits) l;
  if v_bad is not null then
    perform wh_refuse(format('p_inbox_limits.%s', v_bad), format('is %s, a whole number is needed', p_limits -> v_bad));
  end if;
  select coalesce(array_agg(l.key), '{}'), coalesce(array_agg(l.value::text::int), '{}')
  into c.inbox_limits, c.inbox_limit_rooms
  from jsonb_each(p_limits) l
  where l.value::text::int > 0;
  return c;
end
$$;
