-- Returns the answers to these requests that have come, and deletes those requests. With p_gives_up it deletes the
-- others too, and what comes later is dropped.
-- Locks: rows of wh_requests; with p_gives_up it waits for an answer that is just coming.
-- Reads by: primary key.
-- Raises: WB001
-- Called by: request-functions.ts
create or replace function wh_take_answers(p_request_ids uuid[], p_gives_up boolean default false)
returns table (request_id uuid, answer jsonb)
language plpgsql security definer
set search_path from current
-- One plan, whatever the statistics say; see docs/internals/mechanism.md#plans-that-hold
set enable_seqscan = off set enable_bitmapscan = off
as $$
begin
  return query
  delete from wh_requests r
  where r.request_id = any(wh_check_ids('p_request_ids', p_request_ids)) and (p_gives_up or r.answer is not null)
  returning r.request_id, r.answer;
end
$$;
