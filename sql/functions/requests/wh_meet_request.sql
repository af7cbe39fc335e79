-- Runs when an answer arrives, from wherever: puts it where the instance that waits for it finds it, and notifies it
-- when the inserting transaction commits. The row does not enter the inbox. The first answer counts. If nobody waits
-- any more, it is dropped.
-- It runs with the rights of the owner: whoever may insert into the inbox may answer.
-- Locks: the row of the request; it waits for another answer to the same request.
-- Reads by: primary key.
-- Raises: none; an answer that cannot be read is dropped.
-- Called by: trigger wh_inbox_answer
create or replace function wh_meet_request()
returns trigger
language plpgsql security definer
set search_path from current
as $$
declare
  v_request_id uuid;
begin
  begin
    v_request_id := (new.event_data ->> 'requestId')::uuid;
  exception
    when invalid_text_representation then
      return null;
  end;
  update wh_requests r set answer = new.event_data where r.request_id = v_request_id and r.answer is null;
  if found then
    perform pg_notify(wh_channel(), 'answer ' || v_request_id);
  end if;
  return null;
end
$$;
