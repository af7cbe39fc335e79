-- Stores models of an inline perspective in the transaction that appends their events. Returns null, or why they were
-- not stored: then nothing was, the transaction goes on, and the perspective's own batches do it, or hold the stream.
-- Locks: model rows, by id; it waits for a batch of the perspective, which is short.
-- Reads by: primary key.
-- Raises: none
-- Called by: perspective-functions.ts
create or replace function wh_write_inline(p_name text, p_models jsonb)
returns text
language plpgsql security definer
set search_path from current
as $$
declare
  p wh_perspectives;
begin
  select x.* into p from wh_perspectives x where x.name = p_name and x.is_inline;
  if p.name is null then
    return format('there is no inline perspective %s', p_name);
  end if;
  begin
    perform wh_write_models(p, p_models);
  exception
    when data_exception or integrity_constraint_violation or program_limit_exceeded or serialization_failure or lock_not_available then
      return sqlerrm;
  end;
  return null;
end
$$;
