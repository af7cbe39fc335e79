-- The streams of those of these messages that the instance holds. Reads by primary key.
create or replace function wh_streams_of_{lane}(p_instance_id uuid, p_message_ids uuid[])
returns uuid[]
language sql stable
as $$
  select coalesce(array_agg(distinct m.stream_key), '{}')
  from wh_{lane} m
  where m.message_id = any(p_message_ids)
    and m.instance_id = p_instance_id
$$;
