-- Has the models of these streams folded again from what is left of their events: called in the transaction that erases
-- or deletes something of them, for each perspective that may have it in a model.
-- There are no models yet, so there is nothing to do.
-- Locks: none
-- Reads by: no table
-- Raises: none
-- Called by: wh_delete_stream, wh_forget
create or replace function wh_fold_again(p_stream_ids uuid[])
returns void
language plpgsql
as $$
begin
  return;
end
$$;
