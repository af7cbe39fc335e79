-- Lets a message in at a limit that holds over all instances, or says how long it has to wait. Null: it is in.
-- Zero: until another one leaves, of which nothing is known. Otherwise a number of seconds.
-- p_concurrency: at most so many at once. A message is in while an instance has an unexpired lease on it: what is
-- completed, failed, given back or lost with its instance has left, without a statement of its own.
-- p_count, p_per_seconds: at most so many in any time of this length. Of more than 100, those that came in within a
-- hundredth of it count as one group, and leave with its last. Times ahead of the clock, which has gone back, become
-- now.
-- One that has to wait is noted with p_waits_at (wh_wait_at_limit), unless that is null.
-- Locks: the row of the limit and key, waiting; then the row of the message that has to wait.
-- Reads by: primary keys.
-- Raises: none
-- Called by: limit-functions.ts
create or replace function wh_enter_limit(
  p_instance_id uuid, p_message_id uuid, p_name text, p_key text, p_waits_at text,
  p_concurrency int, p_count int, p_per_seconds double precision
)
returns double precision
language plpgsql security definer
set search_path from current
as $$
declare
  l wh_limits;
  v_now timestamptz;
  v_per interval := make_interval(secs => coalesce(p_per_seconds, 0));
  v_grain interval := case when p_count > 100 then v_per / 100 else interval '0' end;
  v_first timestamptz;
  v_used bigint;
  v_wait double precision;
begin
  select * into l from wh_limits w where w.limit_name = p_name and w.limit_key = p_key for update;
  if not found then
    insert into wh_limits (limit_name, limit_key) values (p_name, p_key) on conflict do nothing;
    select * into l from wh_limits w where w.limit_name = p_name and w.limit_key = p_key for update;
  end if;
  -- After the wait, and with a snapshot of its own: what has left meanwhile is seen.
  v_now := clock_timestamp();
  l.holders := array(
    select m.message_id from wh_inbox m
    where m.message_id = any(l.holders) and m.instance_id is not null and m.lease_expiry > v_now and m.message_id <> p_message_id);
  if cardinality(l.holders) >= p_concurrency then
    v_wait := 0;
  elsif p_count is not null then
    select coalesce(array_agg(e.at order by e.at), '{}'), coalesce(array_agg(e.count order by e.at), '{}'), min(e.at), coalesce(sum(e.count), 0)
    into l.entered_at, l.entered_count, v_first, v_used
    from (
      select least(n.at, v_now) as at, n.count from unnest(l.entered_at, l.entered_count) as n(at, count)
    ) e
    where e.at + v_grain > v_now - v_per;
    if v_used >= p_count then
      v_wait := greatest(extract(epoch from v_first + v_grain + v_per - v_now), 0.001);
    elsif v_grain > interval '0' and l.entered_at[cardinality(l.entered_at)] > v_now - v_grain then
      l.entered_count[cardinality(l.entered_count)] := l.entered_count[cardinality(l.entered_count)] + 1;
    else
      l.entered_at := l.entered_at || v_now;
      l.entered_count := l.entered_count || 1;
    end if;
  end if;
  if v_wait is not null then
    perform wh_wait_at_limit(p_instance_id, p_message_id, p_waits_at) where p_waits_at is not null;
    return v_wait;
  end if;
  update wh_limits w
  set holders = case when p_concurrency is null then '{}' else l.holders || p_message_id end,
      entered_at = l.entered_at, entered_count = l.entered_count, idle_from = v_now + v_per + v_grain
  where w.limit_name = p_name and w.limit_key = p_key;
  return null;
end
$$;
