-- Evidence that messages of a stream were finished, or arrived, out of order. See docs/operate/order.md.

create table wh_order_violations (
  id bigint generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  -- overtook: finished before an earlier one that was handed out; too-late: finished when its stream had gone on without
  -- it; arrived-late: stored when one that its sender had handed out later was there.
  kind text not null,
  lane text not null,
  stream_id uuid not null,
  message_id uuid not null,
  sequence_order bigint,
  -- The message that it overtook, or that it came behind. Null: it is not known.
  other_id uuid,
  other_order bigint,
  -- Who reported it or stored it.
  instance_id uuid
);
