-- Of these addresses, those that another schema than this one listens to, or may listen to: all, when one of them cannot say.
-- Runs with the rights of its caller, for wh_process_and_transfer. It only reads there, and waits only briefly.
create or replace function wh_heard_elsewhere(p_addresses text[])
returns text[]
language plpgsql
set search_path from current
set lock_timeout = '50ms'
as $$
declare
  v_heard text[];
  v_elsewhere text[] := '{}';
  v_schema name;
  v_can_say boolean;
begin
  for v_schema, v_can_say in
    select r.schema, r.can_say from wh_receivers() r where r.schema <> current_schema()
  loop
    if not v_can_say then
      return p_addresses;
    end if;
    execute format('select %I.wh_listens($1)', v_schema) into v_heard using p_addresses;
    v_elsewhere := v_elsewhere || v_heard;
  end loop;
  return v_elsewhere;
exception
  when others then
    return p_addresses; -- it is broken, or locked
end
$$;
