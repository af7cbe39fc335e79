import { describe, expect, it } from 'vitest';
import { foldEvents, StoredEvent } from '../../src/fold/index.js';
import { decider } from '../../src/index.js';
import { newMessageId } from '../../src/message-id.js';
import { Order, OrderPaid, OrderPlaced } from '../events/shop.js';

function event(type: string, version: number, data: object = {}): StoredEvent {
  return new StoredEvent({
    event_id: newMessageId(),
    stream_id: newMessageId(),
    version,
    event_type: type,
    aggregate_type: 'Order',
    event_data: { orderId: 'a', cents: 5, paidAt: '2026-11-17', ...data },
    metadata: {},
    scope: null,
    sequence_number: version,
    created_at: '2026-11-17T00:00:00Z',
  });
}

const from = <State>(state: State) => ({ state, version: 0 });

describe('a decider', () => {
  it('events are folded in order, also under an earlier name', async () => {
    const folded = await foldEvents(Order, from(Order.initial), [
      event('OrderPlaced', 1),
      event('OrderSettled', 2),
    ]);
    expect(folded).toEqual({ state: { status: 'paid', cents: 5, changes: 2 }, version: 2 });
  });

  it('a function that changes the state it was given is an error that names decider and event', async () => {
    const bad = decider('Bad', { initial: { list: [1] } }).on(OrderPlaced, (state) => {
      (state.list as number[]).push(2);
      return state;
    });
    await expect(foldEvents(bad, from(bad.initial), [event('OrderPlaced', 1)])).rejects.toMatchObject({
      code: 'FOLD_FAILED',
      message: expect.stringMatching(/^Bad: its function for OrderPlaced \(version 1 of stream /),
      details: { name: 'Bad', type: 'OrderPlaced', version: 1 },
    });
  });

  it('a function that changes the payload is an error', async () => {
    const bad = decider('Bad', { initial: {} }).on(OrderPlaced, (state, payload) => {
      (payload as { cents: number }).cents = 0;
      return state;
    });
    const folding = foldEvents(bad, from(bad.initial), [event('OrderPlaced', 1)]);
    await expect(folding).rejects.toMatchObject({ code: 'FOLD_FAILED' });
  });

  it('a function that returns nothing is an error', async () => {
    const bad = decider('Bad', { initial: { n: 0 } }).on(OrderPlaced, () => undefined as never);
    const folding = foldEvents(bad, from(bad.initial), [event('OrderPlaced', 1)]);
    await expect(folding).rejects.toThrow('returned nothing');
  });

  it('the state that a function returns is frozen, with all that it contains', async () => {
    const { state } = await foldEvents(Order, from(Order.initial), [event('OrderPlaced', 1)]);
    expect(Object.isFrozen(state)).toBe(true);
    expect(Object.isFrozen(Order.initial)).toBe(true);
  });

  it('the fold of a decider is the same for the same functions and another for others', () => {
    const make = (cents: number) => decider('D', { initial: cents }).on(OrderPlaced, (state) => state);
    expect(make(1).fold).toBe(make(1).fold);
    expect(make(1).fold).not.toBe(make(2).fold);
    expect(make(1).fold).not.toBe(make(1).on(OrderPaid, (state) => state).fold);
  });

  it.each([
    ['a name that is no text', () => decider('', { initial: 1 }), 'name'],
    ['no initial state', () => decider('D', {} as never), 'initial'],
    ['an unknown option', () => decider('D', { initial: 1, snapshots: 3 } as never), 'snapshots'],
    ['a number out of bounds', () => decider('D', { initial: 1, snapshotEvery: 0 }), 'snapshotEvery'],
    ['a definition that is none', () => decider('D', { initial: 1 }).on({} as never, (s) => s), 'definition'],
    ['no function', () => decider('D', { initial: 1 }).on(OrderPaid, undefined as never), 'apply'],
    ['two functions for an event', () => Order.on(OrderPaid, (state) => state), 'definition'],
  ])('%s is refused', (_, make, option) => {
    expect(make).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', details: expect.objectContaining({ option }) }),
    );
  });
});
