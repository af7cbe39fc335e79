-- Renews the rows of streams that the caller goes on holding with newly stored messages, and in which nothing else is
-- unfinished.
-- It writes the row of a busy stream at most once a second: while an old snapshot is open, every version of the row
-- stays and slows down its readers.
-- p_head: nothing in the streams lies below.
-- Returns the busy streams if it is certain that each got a message, that is, if all messages were leased.
-- Locks: none; the call has locked the streams.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_try_store
create or replace function wh_renew_busy_streams(
  c wh_call, p_lane text, p_streams wh_open_stream[], p_messages wh_new_message[], p_leased uuid[], p_head bigint
)
returns uuid[]
language plpgsql
as $$
declare
  v_held uuid[];
  v_aged uuid[];
begin
  if p_leased is null then
    return null;
  end if;
  select array_agg(s.stream_id),
         array_agg(s.stream_id) filter (where s.held_through < {Everything} or s.lease_expiry < c.fresh_from)
  into v_held, v_aged
  from unnest(p_streams) s
  where s.lane = p_lane and s.held and not s.fresh;
  if v_aged is not null then
    update wh_active_streams s
    set lease_expiry = c.lease_expiry, held_through = {Everything},
        head = p_head
    where s.stream_id = any(v_aged) and s.lane = p_lane;
  end if;
  return case when cardinality(p_leased) = cardinality(p_messages) then v_held end;
end
$$;
