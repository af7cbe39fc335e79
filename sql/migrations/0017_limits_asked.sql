-- The limits of receptors of which an instance asked in its last call, written with its heartbeat. Read by explain.

alter table wh_service_instances
  -- {name: streams it may be handed}; 0: it has no room there. Null: its receptors have no limits.
  add column inbox_limits jsonb;
