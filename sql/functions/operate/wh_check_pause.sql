-- Refuses what cannot be paused. Returns its name: the type, the id of the stream in small letters, or nothing.
-- Locks: none
-- Reads by: no table
-- Raises: WB001
-- Called by: wh_pause, wh_resume
create or replace function wh_check_pause(p_kind text, p_name text)
returns text
language plpgsql stable
as $$
begin
  if p_kind is null or p_kind <> all(array['type', 'stream', 'intake']) then
    perform wh_refuse('p_kind', format('is %s, one of type, stream and intake is needed', coalesce(p_kind, 'null')));
  elsif p_kind = 'intake' then
    if coalesce(p_name, '') <> '' then
      perform wh_refuse('p_name', 'is given, and the intake of a service has no name');
    end if;
    return '';
  elsif coalesce(p_name, '') = '' then
    perform wh_refuse('p_name', format('is empty, a %s is needed', p_kind));
  elsif p_kind = 'stream' and not wh_is_valid(to_jsonb(p_name), 'uuid') then
    perform wh_refuse('p_name', format('is %s, the uuid of a stream is needed', p_name));
  end if;
  return case when p_kind = 'stream' then p_name::uuid::text else p_name end;
end
$$;
