-- The messages to store, as parsed, and whether there are events, scheduled ones or conditions (only_with) among them.
create type wh_parsed as (messages wh_new_message[], has_events boolean, has_scheduled boolean, has_conditions boolean);
