-- Reads an array of completions that is, as most are, one item with the two keys, a text that is an id as PostgreSQL writes it
-- and a number: a fifth of the time of the parse that groups many. Null: anything else, which the parse reads or refuses.
-- Touches no table, raises nothing.
create or replace function wh_one_completion(p_completions jsonb)
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
