-- The messages to store, as parsed, and whether there are events, scheduled ones, conditions (only_with),
-- priorities or deliveries out of order (arrived_after) among them.
create type wh_parsed as (messages wh_new_message[], has_events boolean, has_scheduled boolean, has_conditions boolean, has_ranked boolean, has_late boolean);
