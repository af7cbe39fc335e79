-- Notes that an instance waits for the answer to a command that it is about to send. Before the command: so the answer
-- cannot come too early.
-- Locks: one new row of wh_requests.
-- Reads by: primary key.
-- Raises: WB001
-- Called by: request-functions.ts
create or replace function wh_open_request(p_request_id uuid, p_instance_id uuid)
returns void
language plpgsql security definer
set search_path from current
as $$
begin
  if p_request_id is null or p_instance_id is null then
    perform wh_refuse(case when p_request_id is null then 'p_request_id' else 'p_instance_id' end, 'is null, a value is needed');
  end if;
  insert into wh_requests (request_id, instance_id) values (p_request_id, p_instance_id) on conflict do nothing;
end
$$;
