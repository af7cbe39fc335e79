// Deliveries of one stream, as they come, are stored and are rejected.
import { describe, expect, it } from 'vitest';
import { ArrivalOrder } from '../../src/work/publish/arrival-order.js';
import { message } from '../transports/messages.js';

const streamId = '0190aaaa-0000-7000-8000-000000000001';
const delivery = (place: string | undefined, stream: string | null = streamId) =>
  message('orders', { streamId: stream, ...(place !== undefined && { place }) });

describe('The watch over arrivals', () => {
  it('a delivery behind one that was handed out later is told, with that one', () => {
    const order = new ArrivalOrder();
    const [first, second, third] = ['run.1', 'run.2', 'run.3'].map((place) => delivery(place));
    if (!first || !second || !third) throw new Error('three deliveries');
    expect(order.take(first)).toBeUndefined();
    expect(order.take(third)).toBeUndefined();
    expect(order.take(second)).toBe(third.messageId);
  });

  it('deliveries of another sender, another stream or without a place are not compared', () => {
    const order = new ArrivalOrder();
    expect(order.take(delivery('run.9'))).toBeUndefined();
    for (const other of [
      delivery('other.1'),
      delivery('run.1', '0190aaaa-0000-7000-8000-000000000002'),
      delivery('run.1', null),
      delivery(undefined),
      delivery('nonsense'),
    ])
      expect(order.take(other)).toBeUndefined();
  });

  it('deliveries that were rejected come again in order and are not told', () => {
    const order = new ArrivalOrder();
    const all = ['run.1', 'run.2'].map((place) => delivery(place));
    for (const each of all) order.take(each);
    for (const each of all) order.rejected(each);
    expect(all.map((each) => order.take(each))).toEqual([undefined, undefined]);
  });

  it('a delivery that comes after a later one was stored is told also when it was rejected before', () => {
    const order = new ArrivalOrder();
    const [first, second] = ['run.1', 'run.2'].map((place) => delivery(place));
    if (!first || !second) throw new Error('two deliveries');
    order.take(first);
    order.take(second);
    order.rejected(first);
    order.stored(second);
    expect(order.take(first)).toBe(second.messageId);
  });

  it('a delivery that comes twice in a row is not behind itself', () => {
    const order = new ArrivalOrder();
    const again = delivery('run.1');
    expect([order.take(again), order.take(again)]).toEqual([undefined, undefined]);
    order.stored(again);
    expect(order.take(again)).toBeUndefined();
  });

  it('all deliveries behind one that was handed out later are told, and not only the first', () => {
    const order = new ArrivalOrder();
    const [first, second, third] = ['run.1', 'run.2', 'run.3'].map((place) => delivery(place));
    if (!first || !second || !third) throw new Error('three deliveries');
    for (const each of [third, first]) order.take(each);
    expect(order.take(second)).toBe(third.messageId);
    // Also when all were stored, in the order in which they came, and a rejection has cut what was taken.
    for (const each of [third, first]) order.stored(each);
    order.rejected(second);
    expect(order.take(second)).toBe(third.messageId);
  });

  it('a place that is no number is not compared, and hides nothing that comes after it', () => {
    const order = new ArrivalOrder();
    const [second, first] = ['run.2', 'run.1'].map((place) => delivery(place));
    if (!first || !second) throw new Error('two deliveries');
    for (const place of ['run.x', 'run.1.5e400', 'run.99999999999999999999']) order.take(delivery(place));
    order.take(second);
    expect(order.take(first)).toBe(second.messageId);
  });

  it('a stream that is delivered again and again is remembered, however many others there are', () => {
    const order = new ArrivalOrder();
    const last = delivery('run.2');
    for (let i = 0; i < 20_000; i++) {
      if (i % 5_000 === 0) order.take(last);
      order.take(delivery('run.1', `stream ${i}`));
    }
    expect(order.take(delivery('run.1'))).toBe(last.messageId);
  });

  it('streams beyond the last ten thousand are forgotten', () => {
    const order = new ArrivalOrder();
    order.take(delivery('run.2'));
    for (let i = 0; i < 10_000; i++) order.take(delivery('run.1', `stream ${i}`));
    expect(order.take(delivery('run.1'))).toBeUndefined();
  });
});
