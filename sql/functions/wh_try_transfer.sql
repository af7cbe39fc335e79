-- wh_transfer, or nothing: false when a receiver refuses, fails, or keeps it waiting, and then nothing of it has happened. For
-- calls that others wait for, and that have another way: the messages are handed out, and sent by wh_transfer with patience.
-- Runs with the rights of its caller, as wh_transfer does. Locks: as wh_transfer, each waited for briefly.
create or replace function wh_try_transfer(
  p_instance_id uuid, p_service_name text, p_host_name text, p_process_id int, p_message_ids uuid[]
)
returns boolean
language plpgsql
set search_path from current
set lock_timeout = '50ms'
as $$
begin
  perform from wh_transfer(p_instance_id, p_service_name, p_host_name, p_process_id, p_message_ids);
  return true;
exception
  when others then
    return false;
end
$$;
