-- Finds the first bad field of a JSON array parameter and refuses the call for it. It runs only after the fast parse
-- has failed, so it may look at one value after the other.
-- p_shape names every key with its type; a trailing ! marks a required one: '{"message_id": "uuid!"}'.
-- Locks: none
-- Reads by: no table
-- Raises: WB001
-- Called by: wh_check_items, wh_parse_completions, wh_parse_events, wh_parse_failures, wh_parse_messages
create or replace function wh_refuse_items(p_field text, p_items jsonb, p_shape jsonb)
returns void
language plpgsql
as $$
declare
  v_item jsonb;
  v_place int;
  v_key text;
  v_type text;
  v_value jsonb;
begin
  if jsonb_typeof(p_items) <> 'array' then
    perform wh_refuse(p_field, format('is a JSON %s, an array is needed', jsonb_typeof(p_items)));
  end if;
  for v_item, v_place in select value, ordinality - 1 from jsonb_array_elements(p_items) with ordinality loop
    if jsonb_typeof(v_item) <> 'object' then
      perform wh_refuse(format('%s[%s]', p_field, v_place), format('is a JSON %s, an object is needed', jsonb_typeof(v_item)));
    end if;
    for v_key in select key from jsonb_object_keys(v_item) as k(key) loop
      if not p_shape ? v_key then
        perform wh_refuse(format('%s[%s].%s', p_field, v_place, v_key),
          format('is not a known key; known keys are %s', (select string_agg(k, ', ' order by k) from jsonb_object_keys(p_shape) k)));
      end if;
    end loop;
    for v_key, v_type in select key, value from jsonb_each_text(p_shape) loop
      v_value := v_item -> v_key;
      if v_value is null or v_value = 'null' then
        if v_type like '%!' then
          perform wh_refuse(format('%s[%s].%s', p_field, v_place, v_key), 'is null, a value is needed');
        end if;
      elsif not wh_is_valid(v_value, rtrim(v_type, '!')) then
        perform wh_refuse(format('%s[%s].%s', p_field, v_place, v_key),
          format('is %s, %s is needed', left(v_value::text, 80), rtrim(v_type, '!')));
      end if;
    end loop;
  end loop;
  perform wh_refuse(p_field, 'cannot be read');
end
$$;
