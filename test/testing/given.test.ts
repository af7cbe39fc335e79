import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { FinalError } from '../../src/index.js';
import { defineEvent } from '../../src/messages/index.js';
import { given } from '../../src/testing/given.js';
import { Order, OrderCancelled, OrderPaid, OrderPlaced, paid, placed } from '../events/shop.js';
import { orders, revenue } from '../fold/shop.js';

const pay = ({ status, cents }: { status: string; cents: number }) => {
  if (status === 'paid') return;
  if (status !== 'placed') throw new FinalError(`it is ${status}`);
  return paid('a', cents);
};

describe('given of a decider', () => {
  it('a test with given passes when exactly the expected events are decided', async () => {
    await given(Order, [placed('a', 7)])
      .when(pay)
      .then([paid('a', 7)]);
    await given(Order, [placed('a', 7)])
      .when(async (order) => pay(order))
      .then(paid('a', 7));
    await given(Order, [placed('a'), paid('a')])
      .when(pay)
      .thenNothing();
  });

  it('a test with given compares dates with their JSON, and takes matchers', async () => {
    const when = given(Order, [placed('a')]).when(() =>
      OrderPaid({ orderId: 'a', cents: 1, paidAt: new Date(0) }),
    );
    await when.then([OrderPaid({ orderId: 'a', cents: 1, paidAt: '1970-01-01T00:00:00.000Z' })]);
    await when.then([OrderPaid({ orderId: 'a', cents: expect.any(Number), paidAt: new Date(0) })]);
  });

  it('a test with given fails with the path of what differs', async () => {
    const failing = given(Order, [placed('a', 7)])
      .when(pay)
      .then([paid('a', 8)]);
    await expect(failing).rejects.toThrow(
      'Order decided otherwise:\n- [0].payload.cents: expected 8, found 7',
    );
    await expect(
      given(Order, [placed('a')])
        .when(pay)
        .thenNothing(),
    ).rejects.toThrow('nothing was expected');
    await expect(
      given(Order, [placed('a')])
        .when(pay)
        .then([]),
    ).rejects.toThrow('Expected: nothing');
  });

  it('a test with given takes the class, the code or the message of what a decision throws', async () => {
    await given(Order, []).when(pay).thenThrows(FinalError);
    await given(Order, [])
      .when(pay)
      .thenThrows(/it is new/);
    const coded = () => Promise.reject(Object.assign(new Error('no'), { code: 'NO' }));
    await given(Order, []).when(coded).thenThrows('NO');
    await expect(given(Order, []).when(coded).thenThrows(FinalError)).rejects.toThrow('something else');
    await expect(
      given(Order, [placed('a')])
        .when(pay)
        .thenThrows(FinalError),
    ).rejects.toThrow('did not throw');
    await expect(given(Order, []).when(pay).then([])).rejects.toThrow('it is new');
  });

  it('a test with given refuses events that could not be stored or folded', async () => {
    const wrong = OrderPlaced({ orderId: 'a', cents: 'x' as never });
    await expect(given(Order, [wrong]).when(pay).thenNothing()).rejects.toMatchObject({
      code: 'INVALID_MESSAGE',
    });
    const unknown = given(Order, []).when(() => OrderCancelled({ orderId: 'a' }));
    await expect(unknown.thenNothing()).rejects.toMatchObject({ code: 'UNKNOWN_EVENT' });
    const other = given(Order, [placed('a')]).when(() => paid('b'));
    await expect(other.thenNothing()).rejects.toThrow('of another stream');
  });

  it('a test with given that is awaited without an expectation fails', async () => {
    await expect(Promise.resolve(given(Order, []).when(pay) as never)).rejects.toThrow(
      'nothing was expected',
    );
    await expect(Promise.resolve(given(orders, []) as never)).rejects.toThrow('nothing was expected');
  });
});

describe('given of a perspective', () => {
  it('a test with given compares a part of the model of a stream or a key', async () => {
    await given(orders, [placed('a'), placed('b'), paid('a')]).then('a', { status: 'paid' });
    await given(orders, [placed('a'), OrderCancelled({ orderId: 'a' })]).thenNone('a');
    await given(revenue, [paid('a'), paid('b')]).then('2026-11-17', { orders: 2 });
    await given(revenue, [paid('a')]).thenNone('2026-11-18');
  });

  it('a test with given fails with the difference, and with the error of an event that failed', async () => {
    const models = given(orders, [placed('a')]);
    await expect(models.then('a', { status: 'paid' })).rejects.toThrow(
      "- status: expected 'paid', found 'placed'",
    );
    await expect(models.then('b', {})).rejects.toThrow("orders has no model 'b'");
    await expect(models.thenNone('a')).rejects.toThrow('none was expected');
    await expect(given(orders, [paid('a')]).thenNone('b')).rejects.toMatchObject({ code: 'FOLD_FAILED' });
    const Loose = defineEvent('Loose', { schema: z.object({}) });
    await expect(given(orders, [Loose({})]).thenNone('a')).rejects.toThrow('Loose has no stream');
  });
});
