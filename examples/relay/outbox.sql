-- An application that only inserts rows. Its order and the message about it are committed together, or not at all.
--   psql "$DATABASE_URL" -v ON_ERROR_STOP=1 -f examples/relay/outbox.sql
-- A relay publishes what is in the outbox: whizbang relay --service orders --to amqp://localhost

create table if not exists orders (
  id uuid primary key,
  customer text not null,
  cents int not null,
  is_paid boolean not null default false
);

begin;

with placed as (
  insert into orders (id, customer, cents)
  values (gen_random_uuid(), 'Ada', 4200)
  returning *
)
insert into whizbang.wh_outbox (message_id, destination, event_type, event_data, metadata, stream_id)
select gen_random_uuid(), 'OrderPlaced', 'OrderPlaced',
       jsonb_build_object('orderId', id, 'customer', customer, 'cents', cents),
       '{"kind": "event"}', -- an event may have no listener; a command without one is refused
       id                   -- messages of one order arrive in the order in which they were inserted
from placed;

commit;

-- Later, a second message of the same stream, again together with what it tells.
begin;

with paid as (
  update orders set is_paid = true where not is_paid
  returning id
)
insert into whizbang.wh_outbox (message_id, destination, event_type, event_data, metadata, stream_id)
select gen_random_uuid(), 'OrderPaid', 'OrderPaid', jsonb_build_object('orderId', id), '{"kind": "event"}', id
from paid;

commit;
