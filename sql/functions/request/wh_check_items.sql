-- Refuses a JSON array parameter with an unknown key, a missing value or a value of the wrong type.
-- For parameters off the hot path.
-- Locks: none
-- Reads by: no table
-- Raises: WB001
-- Called by: wh_record_perspectives, wh_record_receptors
create or replace function wh_check_items(p_field text, p_items jsonb, p_shape jsonb)
returns void
language plpgsql
as $$
begin
  if p_items is null or p_items = '[]' then
    return;
  end if;
  if jsonb_typeof(p_items) <> 'array'
     or exists (select 1 from jsonb_array_elements(p_items) e where jsonb_typeof(e.value) <> 'object')
     or exists (
       select 1 from jsonb_array_elements(p_items) e cross join jsonb_object_keys(e.value) k
       where not p_shape ? k)
     or exists (
       select 1 from jsonb_array_elements(p_items) e cross join jsonb_each_text(p_shape) s
       where case when coalesce(e.value -> s.key, 'null') = 'null' then s.value like '%!'
                  else not wh_is_valid(e.value -> s.key, rtrim(s.value, '!')) end)
  then
    perform wh_refuse_items(p_field, p_items, p_shape);
  end if;
end
$$;
