-- Each of several receptors of an event has its own retries and its own end.

alter table wh_receptor_processing
  -- Not before this time: it has failed, and is tried again. Null: nothing has to be waited for.
  add column retry_at timestamptz,
  -- Since when it is given up: it is not tried again, unless its message is put back. Null: it is not.
  add column given_up_at timestamptz;
