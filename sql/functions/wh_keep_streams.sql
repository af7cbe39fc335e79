-- Renews the rows of streams that the caller goes on holding with newly stored messages. A busy stream's row
-- is written at most once a second: every version of it stays to be waded through while an old snapshot is open.
create or replace function wh_keep_streams(c wh_call, p_lane text, p_streams wh_open_stream[], p_head bigint)
returns void
language plpgsql
as $$
declare
  v_aged uuid[];
begin
  v_aged := array(
    select s.stream_id from unnest(p_streams) s
    where s.lane = p_lane and s.held and not s.fresh
      and (s.held_through < 9223372036854775807 or s.lease_expiry < c.lease_expiry - interval '1 second')
  );
  if cardinality(v_aged) > 0 then
    update wh_active_streams s
    set lease_expiry = c.lease_expiry, head = coalesce(p_head, s.head), held_through = 9223372036854775807
    where s.stream_id = any(v_aged) and s.lane = p_lane;
  end if;
end
$$;
