-- Tells whether a JSON value can be read as one of the types of a call's fields. Off the hot path.
-- Locks: none
-- Reads by: no table
-- Raises: raise_exception for a type that it does not know, which is a mistake in the calling function.
-- Called by: wh_check_items, wh_check_pause, wh_refuse_items
create or replace function wh_is_valid(p_value jsonb, p_type text)
returns boolean
language plpgsql
as $$
declare
  v_text text := p_value #>> '{}';
begin
  case p_type
    when 'json' then return true;
    when 'text' then return jsonb_typeof(p_value) = 'string';
    when 'boolean' then return jsonb_typeof(p_value) = 'boolean';
    when 'true' then return p_value = 'true';
    when 'uuid' then perform v_text::uuid;
    when 'timestamptz' then perform v_text::timestamptz;
    when 'int' then return jsonb_typeof(p_value) = 'number' and v_text::int is not null;
    when 'count' then return jsonb_typeof(p_value) = 'number' and v_text::int >= 1;
    when 'status' then return jsonb_typeof(p_value) = 'number' and v_text::int >= 0;
    when 'version' then return jsonb_typeof(p_value) = 'number' and v_text::bigint >= 0;
    when 'number' then
      if jsonb_typeof(p_value) <> 'number' then return false; end if;
      perform v_text::double precision;
    else raise exception 'wh_is_valid: unknown type %', p_type;
  end case;
  return true;
exception
  when data_exception then return false;
end
$$;
