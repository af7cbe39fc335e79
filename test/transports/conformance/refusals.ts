import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { message, never, stream } from '../world.js';
import type { Trial } from './trial.js';

export function refusals(trial: Trial): void {
  trial('a refused message holds back the later ones of its stream, and no other stream', async (world) => {
    const shop = await world.join('shop');
    await world.listen('orders');
    const [first, second, third] = stream('orders', 3) as [never, never, never];
    const others = [...stream('orders', 2), message('orders')] as const;
    const refused = world.subject.refused(second);

    const outcomes = await shop.send(
      first,
      refused,
      others[0] as never,
      third,
      others[1] as never,
      others[2] as never,
    );

    const accepted = expect.stringMatching(/^(sent|settled)$/);
    const kinds = [accepted, 'failed', accepted, 'held-back', accepted, accepted];
    expect(outcomes.map(({ kind }) => kind)).toEqual(kinds);
    expect(outcomes[1]).toMatchObject({ error: expect.any(Error) });
    await world.untilStored('orders', [first, ...others]);
  });

  trial('a refused message without a stream holds nothing back', async (world) => {
    const shop = await world.join('shop');
    await world.listen('orders');
    const fine = [message('orders'), message('orders')] as const;

    const outcomes = await shop.send(fine[0], world.subject.refused(message('orders')), fine[1]);

    expect(outcomes.map(({ kind }) => kind === 'failed')).toEqual([false, true, false]);
    await world.untilStored('orders', fine);
  });

  trial('many refused messages among many leave the others alone', async (world) => {
    const shop = await world.join('shop');
    await world.listen('orders');
    const messages = Array.from({ length: 60 }, () => message('orders', { streamId: randomUUID() }));
    const given = messages.map((each, i) => (i % 20 === 7 ? world.subject.refused(each) : each));

    const outcomes = await shop.send(...given);

    expect(outcomes.map(({ kind }) => kind === 'failed')).toEqual(given.map((_, i) => i % 20 === 7));
    await world.untilStored(
      'orders',
      messages.filter((_, i) => i % 20 !== 7),
    );
  });

  trial('a call whose signal has aborted rejects with its reason and sends nothing', async (world) => {
    const shop = await world.join('shop');
    await world.listen('orders');
    const [unsent, sent] = [message('orders'), message('orders')];
    await shop.instance.hold?.([unsent]);
    const reason = new Error('stopping');

    await expect(shop.connection.send([unsent], AbortSignal.abort(reason))).rejects.toBe(reason);
    await shop.instance.hold?.([sent]);
    await shop.connection.send([sent], never);

    await world.untilStored('orders', [sent]);
  });
}
