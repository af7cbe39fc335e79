-- Adds streams that begin at one and the same head to those that the caller holds. Touches no table.
create or replace function wh_add_streams(p_held wh_held, p_stream_ids uuid[], p_head bigint)
returns wh_held
language plpgsql immutable
as $$
begin
  if p_stream_ids <> '{}' then
    p_held.stream_ids := p_held.stream_ids || p_stream_ids;
    p_held.heads := p_held.heads || array_fill(p_head, array[cardinality(p_stream_ids)]);
  end if;
  return p_held;
end
$$;
