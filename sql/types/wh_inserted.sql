-- What storing the new messages of one lane came to: those leased at once, and those left out because they are there.
create type wh_inserted as (leased uuid[], known uuid[]);
