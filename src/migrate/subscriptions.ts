import type { Queryable } from '../database/index.js';
import { invalidOption } from '../options.js';

/** Stands in wh_subscriptions for the instance that will come: see wh_subscribe. */
const expectedInstance = '00000000-0000-0000-0000-000000000000';

/**
 * Declares that the service of this schema will listen to these addresses, before it has ever started. From then on what
 * is sent to them waits for it. A declaration ends when an instance subscribes to the address itself.
 */
export async function declareSubscriptions(
  db: Queryable,
  schema: string,
  addresses: readonly string[],
): Promise<void> {
  await db.query(
    `insert into ${schema}.wh_subscriptions (address, instance_id)
     select distinct address, '${expectedInstance}'::uuid from jsonb_array_elements_text($1::text::jsonb) address
     on conflict (address, instance_id) do nothing`,
    [JSON.stringify(addresses)],
  );
}

export function refuseSubscriptions(addresses: unknown): void {
  const isList =
    Array.isArray(addresses) && addresses.every((name) => typeof name === 'string' && name !== '');
  if (isList) return;
  throw invalidOption(
    'migrate',
    'subscriptions',
    'subscriptions is not a list of names',
    "Write subscriptions: ['OrderPlaced'], the types of the events that this service will receive, or their topics.",
  );
}
