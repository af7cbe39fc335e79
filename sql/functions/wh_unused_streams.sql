-- The streams that were made for the caller's messages and in which none was leased after all.
-- When every message was leased there is none. Touches no table.
create or replace function wh_unused_streams(p_lane text, p_opened wh_open_stream[], p_messages int, p_items wh_work_item[])
returns uuid[]
language plpgsql immutable
as $$
begin
  if cardinality(p_items) = p_messages then
    return '{}';
  end if;
  return array(
    select s.stream_id from unnest(p_opened) s where s.lane = p_lane and s.fresh and s.held
    except
    select coalesce(i.stream_id, i.message_id) from unnest(p_items) i
  );
end
$$;
