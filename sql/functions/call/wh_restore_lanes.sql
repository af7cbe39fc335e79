-- Puts back the rows of wh_lanes and wh_admission, which a `truncate` of all tables takes along.
-- Locks: waits for who puts back the same rows.
create or replace function wh_restore_lanes()
returns void
language plpgsql
as $$
begin
  insert into wh_lanes (lane) values ('outbox'), ('inbox') on conflict do nothing;
  insert into wh_admission (lane) values ('outbox'), ('inbox') on conflict do nothing;
end
$$;
