-- Inserts the rows of wh_lanes and wh_admission again after a `truncate` of all tables has removed them.
-- Locks: the new rows; it waits for a call that inserts the same rows.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_open_call, wh_pause, wh_resume
create or replace function wh_restore_lanes()
returns void
language plpgsql
as $$
begin
  insert into wh_lanes (lane, paused) values ('outbox', null), ('inbox', wh_paused_names()) on conflict do nothing;
  insert into wh_admission (lane) values ('outbox'), ('inbox') on conflict do nothing;
end
$$;
