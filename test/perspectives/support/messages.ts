// Perspectives that announce, and a log of all that they have announced, also what was announced twice.
import { z } from 'zod';
import { defineEvent, perspective } from '../../../src/index.js';
import { OrderPaid, OrderPlaced } from '../../events/shop.js';
import type { TestDatabase } from '../../support/database.js';

const OrderSeen = defineEvent('OrderSeen', {
  schema: z.object({ by: z.string(), cents: z.number(), paid: z.boolean() }),
  stream: ({ by }) => by,
});

/** Orders that announce each change, with the version of the code that has done it. */
export const announcing = (version: number) =>
  perspective('seen', { model: z.object({ cents: z.number(), paid: z.boolean() }), version })
    .starts(OrderPlaced, ({ cents }) => ({ cents, paid: false }))
    .on(OrderPaid, (order) => ({ ...order, paid: true }))
    .announces(OrderSeen, ({ cents, paid }) => ({ by: `v${version}`, cents, paid }));

/** From now on every message that is sent is noted, before anybody looks whether it was sent before. */
export async function logAnnouncements(db: TestDatabase): Promise<void> {
  await db.pool.query(`
    create table announced (what text, by text);
    create function log_announced() returns trigger language plpgsql as $$ begin
      if new.event_type = 'OrderSeen' then
        insert into public.announced values (format('%s %s', new.event_data ->> 'cents', new.event_data ->> 'paid'), new.event_data ->> 'by');
      end if;
      return new; end $$;
    create trigger log_announced before insert on wh_outbox for each row execute function log_announced();
    create trigger log_announced before insert on wh_inbox for each row execute function log_announced()`);
}

/** What was announced, each as `cents paid`, and by whom. */
export async function announced(db: TestDatabase): Promise<readonly { what: string; by: string }[]> {
  const text = `select what, by from announced order by split_part(what, ' ', 1)::int, what`;
  return (await db.pool.query<{ what: string; by: string }>(text)).rows;
}
