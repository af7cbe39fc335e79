-- What a call's storing came to, by lane: messages leased at once, streams made in vain, streams held before and
-- busy again, arrivals to mark as admitted; the arrivals that were appended to the event store; and, by lane, the
-- messages that were left out because their ids are known.
create type wh_stored as (
  outbox_leased uuid[],
  outbox_unused uuid[],
  outbox_busy uuid[],
  outbox_admitted wh_arrival[],
  inbox_leased uuid[],
  inbox_unused uuid[],
  inbox_busy uuid[],
  inbox_admitted wh_arrival[],
  appended uuid[],
  outbox_known uuid[],
  inbox_known uuid[]
);
