import { describe, expect, it } from 'vitest';
import { inProcessTransport, receptor } from '../../src/index.js';
import type { Transport } from '../../src/transport.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { OrderPlaced, service } from './service.js';

const steps = Array.from({ length: 12 }, (_, i) => i + 1);

/** Steps of two streams, one after the other. */
async function publishAll(shop: ReturnType<typeof service>): Promise<void> {
  await shop.publish(steps.flatMap((step) => ['a', 'b'].map((orderId) => OrderPlaced({ orderId, step }))));
}

async function outbox(db: TestDatabase) {
  const { rows } = await db.pool.query(
    `select instance_id is not null as held, attempts from wh_outbox order by sequence_order`,
  );
  return rows as { held: boolean; attempts: number }[];
}

/** As the given one, but each send waits for its turn. */
function slow(transport: Transport, turn: (sends: number) => Promise<void>): Transport {
  let sends = 0;
  return {
    name: 'slow',
    traits: { moves: 'stream', sent: 'unknown', knowsReceivers: false },
    connect: async (host) => {
      const connection = await transport.connect(host);
      return {
        receive: (subscription, deliver) => connection.receive(subscription, deliver),
        ready: (signal) => connection.ready(signal),
        close: () => connection.close(),
        send: async (messages, signal) => {
          await turn(++sends);
          return connection.send(messages, signal);
        },
      };
    },
  };
}

async function untilHandled(db: TestDatabase, hub: Transport) {
  const seen: Record<string, number[]> = { a: [], b: [] };
  const note = receptor(OrderPlaced, ({ orderId, step }) => void seen[orderId]?.push(step));
  await using shop = service(db, { receptors: [note], transport: hub });
  await shop.start();
  await eventually(() => expect(seen.a?.length).toBe(steps.length));
  await eventually(() => expect(seen.b?.length).toBe(steps.length));
  expect(seen).toEqual({ a: steps, b: steps });
}

describe('A stop while the publisher holds what is to be sent', () => {
  it('stop gives back all that waits to be sent while the transport is away, and another sends it', async () => {
    await using db = await createTestDatabase();
    const hub = inProcessTransport();
    const first = await service(db, { transport: hub, publishBatchSize: 3 }).start();
    hub.goAway();
    await publishAll(first);
    await eventually(async () => expect((await outbox(db)).filter(({ held }) => held)).toHaveLength(24));
    await eventually(() => expect(first.readiness.transport).toBe(false));
    await first.stop();
    const { rows } = await db.pool.query('select 1 from wh_active_streams where instance_id is not null');
    expect(rows).toEqual([]);
    expect(await outbox(db)).toEqual(Array.from({ length: 24 }, () => ({ held: false, attempts: 0 })));
    hub.comeBack();
    await untilHandled(db, hub);
  });

  it('stop finishes the batch that is being sent and gives back the rest', async () => {
    await using db = await createTestDatabase();
    const hub = inProcessTransport();
    let goOn = () => {};
    let isSending = false;
    const turn = () =>
      new Promise<void>((resolve) => {
        goOn = resolve;
        isSending = true;
      });
    // Bound before anything is sent, so that nothing is sent to nobody.
    const note = receptor(OrderPlaced, () => {});
    await (await service(db, { receptors: [note], transport: hub }).start()).stop();
    const first = await service(db, { transport: slow(hub, turn), publishBatchSize: 3 }).start();
    await publishAll(first);
    await eventually(() => expect(isSending).toBe(true));
    const stopped = first.stop();
    // Given back while the transport still takes its time.
    await eventually(async () =>
      expect((await outbox(db)).filter(({ held }) => held).length).toBeLessThan(4),
    );
    goOn();
    await stopped;
    const left = await outbox(db);
    expect(left.length).toBeGreaterThanOrEqual(21);
    expect(left).toEqual(left.map(() => ({ held: false, attempts: 0 })));
    await untilHandled(db, hub);
  });

  it('stop gives back what the transport does not answer for in time', async () => {
    await using db = await createTestDatabase();
    const hub = inProcessTransport();
    const first = await service(db, { transport: slow(hub, () => new Promise(() => {})) }).start();
    await publishAll(first);
    await eventually(async () => expect((await outbox(db)).filter(({ held }) => held)).toHaveLength(24));
    await first.stop({ seconds: 0.1 });
    expect(await outbox(db)).toEqual(Array.from({ length: 24 }, () => ({ held: false, attempts: 0 })));
    await untilHandled(db, hub);
  });
});
