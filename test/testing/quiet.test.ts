import { describe, expect, it } from 'vitest';
import { receptor } from '../../src/index.js';
import { eventually } from '../support/eventually.js';
import { countingReceptor, OrderPaid, OrderPlaced, ShipOrder, startShop } from './shop.js';

async function heldIn(kit: Awaited<ReturnType<typeof startShop>>, table: string): Promise<number> {
  const { rows } = await kit.pool.query(`select 1 from whizbang.${table} where instance_id is not null`);
  return rows.length;
}

describe('quiet', () => {
  it('quiet waits for everything that a message sets off, however long the chain', async () => {
    const handled: number[] = [];
    const next = receptor(OrderPlaced, ({ orderId, total }) => {
      handled.push(total);
      return total < 20 ? OrderPlaced({ orderId, total: total + 1 }) : undefined;
    });
    await using kit = await startShop({ receptors: [next] });
    await kit.publish(OrderPlaced({ orderId: 'a', total: 1 }));
    await kit.quiet();
    expect(handled).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  });

  it('quiet names the message whose receptor does not return, and the one behind it', async () => {
    let goOn: (() => void) | undefined;
    const stuck = receptor(OrderPlaced, ({ total }) =>
      total === 1 ? new Promise<void>((resolve) => (goOn = resolve)) : undefined,
    );
    await using kit = await startShop({ receptors: [stuck] });
    const [first, second] = await kit.whizbang.publish(
      [1, 2].map((total) => OrderPlaced({ orderId: 'a', total })),
    );
    await eventually(async () => {
      expect(goOn).toBeDefined();
      expect(await heldIn(kit, 'wh_inbox')).toBe(2);
    });
    await expect(kit.quiet({ seconds: 0.1 })).rejects.toThrow(
      `There was still work after 0.1 s. What is left:
- inbox OrderPlaced ${first}: its receptor has not returned
- inbox OrderPlaced ${second}: it waits behind ${first} of its stream`,
    );
    goOn?.();
    await kit.quiet();
  });

  it('quiet names what the transport has not taken', async () => {
    await using kit = await startShop();
    kit.transport.goAway();
    const id = await kit.send(ShipOrder({ orderId: 'a' }));
    await eventually(async () => expect(await heldIn(kit, 'wh_outbox')).toBe(1));
    await expect(kit.quiet({ seconds: 0.1 })).rejects.toThrow(
      `- outbox ShipOrder ${id}: the transport has not taken it`,
    );
    expect(kit.sent()).toEqual([]);
    kit.transport.comeBack();
    await kit.quiet();
    kit.expectSent(ShipOrder);
  });

  it('quiet names a message that fails again and again, with its error', async () => {
    const fails = receptor(OrderPlaced, { retry: { attempts: 1_000_000 } }, () => {
      throw new Error('no card');
    });
    await using kit = await startShop({ receptors: [fails] });
    const id = await kit.publish(OrderPlaced({ orderId: 'a' }));
    const complaint = new RegExp(
      `inbox OrderPlaced ${id}: .*failed \\d+ times, the last time with: Error: no card`,
    );
    await eventually(async () => {
      const { rows } = await kit.pool.query('select 1 from whizbang.wh_inbox where attempts > 0');
      expect(rows).toHaveLength(1);
    });
    await expect(kit.quiet({ seconds: 0.1 })).rejects.toThrow(complaint);
  });

  it('quiet retries failed messages at once, without the delays of their policy', async () => {
    const attempts: number[] = [];
    const third = receptor(OrderPlaced, { retry: { firstDelaySeconds: 60 } }, (_, { attempt }) => {
      attempts.push(attempt);
      if (attempt < 3) throw new Error('not yet');
    });
    await using kit = await startShop({ receptors: [third] });
    const messageId = await kit.publish(OrderPlaced({ orderId: 'a' }));
    await kit.quiet();
    expect(attempts).toEqual([1, 2, 3]);
    expect(kit.failures).toMatchObject([
      { messageId, attempt: 1, isFinal: false },
      { messageId, attempt: 2, isFinal: false },
    ]);
    expect(await kit.deadLetters()).toEqual([]);
  });

  it('quiet tries several receptors of an event again at once, whatever the delay of each', async () => {
    const runs: string[] = [];
    const second = (name: string, firstDelaySeconds: number) =>
      receptor(OrderPlaced, { name, retry: { firstDelaySeconds } }, (_, { attempt }) => {
        runs.push(`${name} ${attempt}`);
        if (attempt < 2) throw new Error('not yet');
      });
    await using kit = await startShop({ receptors: [second('mail', 60), second('ship', 120)] });
    await kit.publish(OrderPlaced({ orderId: 'a' }));
    await kit.quiet();
    expect(runs.toSorted()).toEqual(['mail 1', 'mail 2', 'ship 1', 'ship 2']);
    expect(kit.failures).toMatchObject([{ receptor: 'mail' }, { receptor: 'ship' }]);
  });

  it('quiet resolves after a message was given up, which is a dead letter then', async () => {
    const never = receptor(OrderPlaced, { retry: { attempts: 2, firstDelaySeconds: 60 } }, () => {
      throw new Error('never');
    });
    await using kit = await startShop({ receptors: [never] });
    const messageId = await kit.publish(OrderPlaced({ orderId: 'a', total: 1 }));
    await kit.quiet();
    expect(kit.failures.map(({ isFinal }) => isFinal)).toEqual([false, true]);
    expect(await kit.deadLetters()).toEqual([
      {
        source: 'inbox',
        messageId,
        type: 'OrderPlaced',
        payload: { orderId: 'a', total: 1 },
        attempts: 2,
        error: expect.stringContaining('never'),
      },
    ]);
  });

  it('quiet does not wait for what is sent with a delay, until that is made due', async () => {
    const { onPlaced, runs } = countingReceptor();
    await using kit = await startShop({ receptors: [onPlaced] });
    await kit.publish(OrderPlaced({ orderId: 'a' }), { delaySeconds: 3600 });
    await kit.publish(OrderPlaced({ orderId: 'b' }), { delaySeconds: 3600 });
    await kit.quiet();
    expect(runs).toEqual([]);
    await kit.makeDelayedDue();
    await kit.quiet();
    expect(runs.toSorted()).toEqual(['a', 'b']);
    expect(kit.sent(OrderPaid)).toHaveLength(2);
  });
});
