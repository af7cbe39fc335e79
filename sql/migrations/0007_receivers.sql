-- Which instance receives from a broker that knows no single active consumer. See docs/transports/nats.md.

-- A lease without a clock: its holder counts `beat` up, and whoever has seen the same fence and beat for the whole time
-- of the lease, by a clock of its own, may take it. So a step of the database's clock moves no lease.
create table wh_receiver_leases (
  name text collate "C" primary key,
  -- One attempt to receive, not an instance. Null: given back.
  holder uuid,
  -- Grows when the holder changes.
  fence bigint not null default 1,
  beat bigint not null default 1,
  -- For people. No decision depends on it.
  changed_at timestamptz not null default clock_timestamp()
);
