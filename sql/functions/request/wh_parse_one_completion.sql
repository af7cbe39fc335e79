-- Reads an array of completions that is, as most are, one item with the two keys: an id as PostgreSQL writes it, and a
-- number. That takes a fifth of the time of wh_parse_completions, which groups many.
-- Returns null for anything else, which wh_parse_completions reads or refuses.
-- Locks: none
-- Reads by: no table
-- Raises: none
-- Called by: wh_parse_completions, wh_settle_one
create or replace function wh_parse_one_completion(p_completions jsonb)
returns wh_completion
language plpgsql immutable
as $$
declare
  v_id text := p_completions -> 0 ->> 'message_id';
  v_status text := p_completions -> 0 ->> 'status';
begin
  if v_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' and v_status ~ '^[0-9]{1,5}$'
    and p_completions = jsonb_build_array(jsonb_build_object('message_id', v_id, 'status', v_status::int))
  then
    return row(v_status::int, array[v_id::uuid])::wh_completion;
  end if;
  return null;
end
$$;
