// Order that is broken on the way, by a transport that does not keep it: the receiver sees it, the log and the counts tell it.
import { describe, expect, it } from 'vitest';
import { createWhizbang, inProcessTransport, receptor, type WhizbangOptions } from '../../src/index.js';
import type { Delivery, Transport } from '../../src/transport.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { inbox, instance, stream } from '../support/work.js';
import { startCounting } from '../telemetry/support/counts.js';
import { OrderPlaced, service } from './service.js';

/** A transport that holds the first delivery back until it has handed on another. */
function swapping(): Transport {
  const transport = inProcessTransport();
  return {
    ...transport,
    connect: async (host) => {
      const connection = await transport.connect(host);
      let held: Delivery | undefined;
      let isDone = false;
      return {
        send: (messages, signal) => connection.send(messages, signal),
        ready: (signal) => connection.ready(signal),
        close: () => connection.close(),
        receive: (subscription, deliver) =>
          connection.receive(subscription, (delivery) => {
            if (!isDone && held === undefined) {
              held = delivery;
              return;
            }
            deliver(delivery);
            if (held !== undefined) deliver(held);
            held = undefined;
            isDone = true;
          }),
      };
    },
  };
}

const violations = async (db: TestDatabase) =>
  (await db.pool.query('select kind, lane, instance_id from wh_order_violations')).rows;

describe('The watch over the order of a running service', () => {
  it('messages that a transport swaps are evidence, a warning, a count and a metric', async () => {
    using counts = startCounting();
    await using db = await createTestDatabase();
    const warnings: [object, string][] = [];
    const say = () => {};
    const logger = {
      debug: say,
      info: say,
      error: say,
      warn: (facts: object, text: string) => void warnings.push([facts, text]),
    };
    await using shop = createWhizbang({
      service: 'shop',
      connectionString: db.connectionString,
      receptors: [receptor(OrderPlaced, () => {})],
      transport: swapping(),
      logger,
    } as WhizbangOptions);
    await shop.start();
    for (const step of [1, 2, 3]) await shop.publish(OrderPlaced({ orderId: 'a', step }));
    await eventually(async () =>
      expect(await violations(db)).toMatchObject([{ kind: 'arrived-late', lane: 'inbox' }]),
    );
    await eventually(() =>
      expect(warnings.map(([, text]) => text)).toEqual([
        expect.stringMatching(/^The order of a stream was broken/),
      ]),
    );
    await eventually(async () => {
      const { rows } = await db.pool.query('select order_violations::int as count from wh_instances');
      expect(rows).toEqual([{ count: 1 }]);
    });
    expect(await counts.byLane('whizbang.order.violations')).toEqual({ outbox: 0, inbox: 1 });
  });

  it('an outage that cuts a batch, and all that comes twice after it, is no violation', async () => {
    await using db = await createTestDatabase();
    const transport = inProcessTransport();
    const steps: number[] = [];
    const onPlaced = receptor(OrderPlaced, ({ step }) => void steps.push(step));
    await using shop = service(db, { receptors: [onPlaced], transport });
    await shop.start();
    transport.goAway({ afterMessages: 5 });
    const all = Array.from({ length: 20 }, (_, step) => step);
    for (const step of all) await shop.publish(OrderPlaced({ orderId: 'a', step }));
    transport.comeBack();
    await eventually(() => expect(steps).toEqual(all));
    await eventually(() => expect(transport.pending()).toBe(0));
    expect(await violations(db)).toEqual([]);
  });

  it('a delivery that was stored before and comes out of order is no violation', async () => {
    await using db = await createTestDatabase();
    const a = instance(db, 'a');
    const [first, second] = stream(2);
    if (!first || !second) throw new Error('two messages');
    const late = { ...first, arrived_after: second.message_id };
    await a.call(inbox.stores(first, second));
    await a.call(inbox.stores(late));
    expect(await violations(db)).toEqual([]);
    const [third] = stream(1);
    await a.call(inbox.stores({ ...third, arrived_after: second.message_id } as typeof first));
    expect(await violations(db)).toEqual([{ kind: 'arrived-late', lane: 'inbox', instance_id: a.id }]);
  });
});
