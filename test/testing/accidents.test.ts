import { describe, expect, it } from 'vitest';
import { receptor } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import { eventually } from '../support/eventually.js';
import { countingReceptor, effectsIn, OrderPaid, OrderPlaced, ShipOrder, startShop } from './shop.js';

const placed = (orderId: string) => OrderPlaced({ orderId });

/** The steps of receptors, in order. */
function stepLogger() {
  const steps: string[] = [];
  const debug = (facts: { readonly step?: string }) => facts.step !== undefined && steps.push(facts.step);
  return { steps, logger: { ...silentLogger, debug } };
}

describe('deliver and redeliver', () => {
  it('deliver brings a message as if from another service, and it does not count as sent', async () => {
    const seen: string[] = [];
    const onShip = receptor(ShipOrder, (_, { envelope }) => void seen.push(envelope.hops[0]?.service ?? ''));
    await using kit = await startShop({ receptors: [onShip] });
    await kit.deliver(ShipOrder({ orderId: 'a' }), { from: 'checkout' });
    await kit.quiet();
    expect(seen).toEqual(['checkout']);
    expect(kit.sent()).toEqual([]);
  });

  it('deliver and redeliver refuse what would never arrive', async () => {
    await using kit = await startShop();
    await expect(kit.deliver(placed('a'))).rejects.toMatchObject({ code: 'NO_RECEPTOR' });
    await expect(kit.redeliver('01999999-0000-7000-8000-000000000000')).rejects.toThrow(
      'was not delivered yet',
    );
  });

  it.each(['delivered', 'published'])(
    'redeliver brings a message that was %s a second time, and it is handled once',
    async (how) => {
      const { onPlaced, runs } = countingReceptor();
      await using kit = await startShop({ receptors: [onPlaced] });
      const id = how === 'delivered' ? await kit.deliver(placed('a')) : await kit.publish(placed('a'));
      await kit.quiet();
      await kit.redeliver(id);
      await kit.quiet();
      // Not an assertion about nothing: the second one did arrive, and a message behind it was handled.
      await kit.deliver(placed('b'));
      await kit.quiet();
      expect(runs).toEqual(['a', 'b']);
      expect(await effectsIn(kit.pool)).toEqual(['a', 'b']);
    },
  );
});

describe('crashDuring', () => {
  it('crashDuring loses the first run, and another instance handles the message with one effect', async () => {
    const { onPlaced, runs } = countingReceptor();
    await using kit = await startShop({ receptors: [onPlaced] });
    const id = await kit.crashDuring(OrderPlaced, () => kit.publish(placed('a')));
    await kit.quiet();
    expect(runs).toEqual(['a', 'a']);
    expect(await effectsIn(kit.pool)).toEqual(['a']);
    expect(kit.sent(OrderPaid)).toMatchObject([{ causationId: id }]);
    // A crash is no failure of the message. The runtime counts it apart, and forgets it when the message is done.
    expect(kit.failures).toEqual([]);
    const { rows } = await kit.pool.query('select 1 from whizbang.wh_receptor_processing');
    expect(rows).toEqual([]);
  });

  it('crashDuring repeats the effect of a receptor without a transaction', async () => {
    const effects: number[] = [];
    const onPlaced = receptor(
      OrderPlaced,
      { transaction: false },
      (_, { attempt }) => void effects.push(attempt),
    );
    await using kit = await startShop({ receptors: [onPlaced] });
    await kit.crashDuring(onPlaced, () => kit.publish(placed('a')));
    await kit.quiet();
    expect(effects).toEqual([1, 1]);
  });

  it('crashDuring keeps what an earlier receptor of the same message has committed', async () => {
    const { onPlaced, runs } = countingReceptor();
    const mails: string[] = [];
    const mail = receptor(OrderPlaced, { name: 'mail' }, ({ orderId }) => void mails.push(orderId));
    await using kit = await startShop({ receptors: [onPlaced, mail] });
    await kit.crashDuring(mail, () => kit.publish(placed('a')));
    await kit.quiet();
    expect({ runs, mails }).toEqual({ runs: ['a'], mails: ['a', 'a'] });
    expect(await effectsIn(kit.pool)).toEqual(['a']);
  });

  it('crashDuring keeps the order of the stream', async () => {
    const totals: number[] = [];
    const onPlaced = receptor(OrderPlaced, ({ total }) => void totals.push(total));
    await using kit = await startShop({ receptors: [onPlaced] });
    await kit.crashDuring(OrderPlaced, async () => {
      for (const total of [1, 2, 3]) await kit.publish(OrderPlaced({ orderId: 'a', total }));
    });
    await kit.quiet();
    expect(totals).toEqual([1, 1, 2, 3]);
  });

  it('crashDuring can be used again and again', async () => {
    const { onPlaced, runs } = countingReceptor();
    await using kit = await startShop({ receptors: [onPlaced] });
    for (const orderId of ['a', 'b', 'c']) {
      await kit.crashDuring(OrderPlaced, () => kit.publish(placed(orderId)));
      await kit.quiet();
    }
    expect(await effectsIn(kit.pool)).toEqual(['a', 'b', 'c']);
    expect(runs).toEqual(['a', 'a', 'b', 'b', 'c', 'c']);
  });

  it('crashDuring rolls back the transaction of a library, too', async () => {
    const { onPlaced } = countingReceptor();
    const ends: string[] = [];
    await using kit = await startShop({
      receptors: [onPlaced],
      transaction: async (work, { pool }) => {
        const client = await pool.connect();
        try {
          await client.query('begin');
          const result = await work(client);
          await client.query('commit');
          ends.push('commit');
          return result;
        } catch (error) {
          await client.query('rollback');
          ends.push('rollback');
          throw error;
        } finally {
          client.release();
        }
      },
    });
    await kit.crashDuring(OrderPlaced, () => kit.publish(placed('a')));
    await kit.quiet();
    expect(ends).toEqual(['rollback', 'commit']);
    expect(await effectsIn(kit.pool)).toEqual(['a']);
  });

  it('crashDuring fails when nothing that it could interrupt is handled', async () => {
    await using kit = await startShop();
    await expect(kit.crashDuring(OrderPlaced, async () => {}, { seconds: 0.1 })).rejects.toThrow(
      'No receptor of OrderPlaced has returned within 0.1 s.',
    );
  });
});

describe('stallDuring', () => {
  it('stallDuring rolls back the stalled run: two runs have one effect', async () => {
    const { onPlaced, runs } = countingReceptor();
    const { steps, logger } = stepLogger();
    await using kit = await startShop({ receptors: [onPlaced], logger });
    const id = await kit.stallDuring(OrderPlaced, () => kit.publish(placed('a')));
    await kit.quiet();
    expect(runs).toEqual(['a', 'a']);
    expect(await effectsIn(kit.pool)).toEqual(['a']);
    expect(kit.sent(OrderPaid)).toMatchObject([{ causationId: id }]);
    // The zombie came as far as its completion, which was refused: the fence did it, and nothing before.
    const second = ['starting', 'begun', 'handled', 'settled', 'committed'];
    expect(steps).toEqual(['starting', 'begun', ...second, 'handled']);
  });

  it('stallDuring works when the second run waits for a row that the stalled one has written', async () => {
    const runs: string[] = [];
    const onPlaced = receptor(OrderPlaced, async ({ orderId }, { tx }) => {
      runs.push(orderId);
      await tx.query('insert into effects values ($1)', [orderId]);
    });
    await using kit = await startShop({ receptors: [onPlaced] });
    await kit.pool.query('create unique index on effects (order_id)');
    await kit.stallDuring(OrderPlaced, () => kit.publish(placed('a')));
    await kit.quiet();
    expect(runs).toEqual(['a', 'a']);
    expect(await effectsIn(kit.pool)).toEqual(['a']);
  });

  it('stallDuring doubles the effect of a receptor without a transaction', async () => {
    const effects: string[] = [];
    const onPlaced = receptor(
      OrderPlaced,
      { transaction: false },
      ({ orderId }) => void effects.push(orderId),
    );
    await using kit = await startShop({ receptors: [onPlaced] });
    await kit.stallDuring(onPlaced, () => kit.publish(placed('a')));
    await kit.quiet();
    expect(effects).toEqual(['a', 'a']);
  });

  it('stallDuring leaves one instance that goes on', async () => {
    const { onPlaced } = countingReceptor();
    await using kit = await startShop({ receptors: [onPlaced] });
    await kit.stallDuring(OrderPlaced, () => kit.publish(placed('a')));
    await kit.publish(placed('b'));
    await kit.quiet();
    await eventually(async () => {
      const { rows } = await kit.pool.query('select 1 from whizbang.wh_service_instances where takes_inbox');
      expect(rows).toHaveLength(1);
    });
    expect(await effectsIn(kit.pool)).toEqual(['a', 'b']);
  });
});
