import { expect } from 'vitest';
import { ids, message, messageOf } from '../world.js';
import type { Trial } from './trial.js';

/** Addresses are free text. What a broker takes for a wildcard, a level or an end is a character like others. */
const difficult = {
  'a space': 'Order placed',
  'a dot': 'orders.placed',
  'an asterisk': 'orders.*',
  'a greater-than sign': 'orders.>',
  'a slash': 'orders/placed',
  'a number sign': 'orders.#',
  '250 letters': 'O'.repeat(250),
  'another alphabet': 'Заказ размещён 注文',
};

/** Names that differ, and are alike once they are cut, written in small letters, or spelled without a dot. */
const alike = [
  ['a.b', 'a_2eb'],
  ['a_b', 'a__b'],
  ['Orders', 'orders'],
  [`${'o'.repeat(249)}1`, `${'o'.repeat(249)}2`],
] as const;

export function names(trial: Trial): void {
  for (const [what, address] of Object.entries(difficult)) {
    trial(`an event arrives at an address with ${what}, and nothing else arrives there`, async (world) => {
      const shop = await world.join('shop');
      await world.listen('orders', { listensTo: [address] });
      await world.listen('billing', { listensTo: ['orders.placed.today'] });
      const [event, other] = [message(address), message('orders.placed.today')];

      await shop.sendAll(event, other);

      await world.untilStored('orders', [event]);
      await world.untilStored('billing', [other]);
    });
  }

  trial(
    'deliveries tell the address that their messages were sent to',
    async (world) => {
      const addresses = Object.values(difficult);
      const orders = await world.listen('orders', { listensTo: addresses, stores: false });

      await orders.sendAll(...addresses.map((address) => message(address)));

      await orders.untilReceived(addresses.length);
      const told = orders.deliveries.map((delivery) => messageOf(delivery).address);
      expect(told.toSorted()).toEqual(addresses.toSorted());
    },
    'deliveries',
  );

  for (const [one, another] of alike) {
    const [a, b] = [one, another].map((name) => (name.length > 20 ? `${name.length} letters` : name));
    trial(
      `two services whose names look alike get each their own messages: ${a} and ${b}`,
      async (world) => {
        const shop = await world.join('shop');
        await world.listen(one);
        await world.listen(another);
        const sent = [one, another, one, another].map((name) => message(name));

        await shop.sendAll(...sent);

        for (const name of [one, another]) {
          const own = sent.filter(({ address }) => address === name);
          expect(ids(await world.untilStored(name, own)).toSorted()).toEqual(ids(own).toSorted());
        }
      },
      'anyName',
    );
  }
}
