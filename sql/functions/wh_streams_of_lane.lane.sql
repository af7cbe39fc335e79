-- The streams of those of these messages that the instance holds. Reads by primary key.
create or replace function wh_streams_of_{lane}(p_instance_id uuid, p_message_ids uuid[])
returns uuid[]
language plpgsql stable
as $$
begin
  if cardinality(p_message_ids) = 0 then
    return '{}';
  end if;
  return (
    select coalesce(array_agg(distinct m.stream_key), '{}')
    from wh_{lane} m
    where m.message_id = any(p_message_ids)
      and m.instance_id = p_instance_id
  );
end
$$;
