-- Keeps the last {KeptViolations} rows of wh_order_violations: evidence, not a log that grows.
-- Locks: the rows that it deletes, skip locked.
-- Reads by: primary key.
-- Raises: none
-- Called by: wh_note_arrivals, wh_note_disorder_{lane}
create or replace function wh_trim_order_violations()
returns void
language plpgsql
as $$
begin
  delete from wh_order_violations v
  where v.id in (
    select o.id from wh_order_violations o
    where o.id <= (select max(x.id) from wh_order_violations x) - {KeptViolations}
    order by o.id
    limit 1000
    for update skip locked);
end
$$;
