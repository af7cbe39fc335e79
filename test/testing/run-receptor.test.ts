import { describe, expect, it } from 'vitest';
import { receptor } from '../../src/index.js';
import { runReceptor } from '../../src/testing/index.js';
import { countingReceptor, OrderPaid, OrderPlaced, ShipOrder } from './shop.js';

describe('runReceptor', () => {
  it('runReceptor gives what the handler sent, returned and did to its transaction', async () => {
    const { onPlaced } = countingReceptor();
    const queries: unknown[] = [];
    const tx = {
      query: async (text: string, values?: unknown[]) => {
        queries.push([text, values]);
        return { rows: [] };
      },
    };
    const run = await runReceptor(onPlaced, OrderPlaced({ orderId: 'a' }), { tx });
    expect(queries).toEqual([['insert into effects (order_id) values ($1)', ['a']]]);
    run.expectSent(OrderPaid, { orderId: 'a' });
    expect(run.sent()).toHaveLength(1);
    expect(run.returned).toMatchObject({ payload: { orderId: 'a' } });
    expect(() => run.expectSent(ShipOrder)).toThrow('ShipOrder was not sent');
  });

  it('runReceptor checks the message as if it had arrived, and gives the handler the output of the schema', async () => {
    const seen: unknown[] = [];
    const onPlaced = receptor(OrderPlaced, (order) => void seen.push(order));
    await runReceptor(onPlaced, OrderPlaced({ orderId: 'a' }));
    expect(seen).toEqual([{ orderId: 'a', total: 0 }]);
    await expect(runReceptor(onPlaced, OrderPlaced({ orderId: 1 as never }))).rejects.toMatchObject({
      code: 'INVALID_MESSAGE',
    });
    await expect(runReceptor(onPlaced, ShipOrder({ orderId: 'a' }))).rejects.toMatchObject({
      code: 'NO_RECEPTOR',
    });
  });

  it('runReceptor throws what the handler throws', async () => {
    const fails = receptor(OrderPlaced, () => {
      throw new Error('no card');
    });
    await expect(runReceptor(fails, OrderPlaced({ orderId: 'a' }))).rejects.toThrow('no card');
  });

  it('runReceptor reports a handler that uses a transaction that it was not given', async () => {
    const { onPlaced } = countingReceptor();
    await expect(runReceptor(onPlaced, OrderPlaced({ orderId: 'a' }))).rejects.toMatchObject({
      code: 'UNKNOWN_TRANSACTION',
      message: 'The receptor has used ctx.tx.query, but runReceptor was given no tx.',
    });
  });

  it('runReceptor answers for the receptors that the handler invokes, or reports that it cannot', async () => {
    const onPlaced = receptor(OrderPlaced, async (order, ctx) => {
      await ctx.invoke(ShipOrder(order));
      return ShipOrder(order);
    });
    const invoked: unknown[] = [];
    const invoke = (...given: unknown[]) => void invoked.push(given);
    const tx = { query: async () => ({ rows: [] }) };
    const run = await runReceptor(onPlaced, OrderPlaced({ orderId: 'a' }), { tx, invoke });
    expect(invoked).toEqual([['ShipOrder', expect.objectContaining({ orderId: 'a' })]]);
    expect(run.sent()).toHaveLength(1);
    await expect(runReceptor(onPlaced, OrderPlaced({ orderId: 'a' }), { tx })).rejects.toMatchObject({
      code: 'NO_RECEPTOR',
      message: 'The receptor OrderPlaced has invoked ShipOrder, but runReceptor was given no invoke.',
    });
  });

  it('runReceptor passes on the attempt, the scope and the conversation', async () => {
    const onPlaced = receptor(OrderPlaced, (order, ctx) =>
      ctx.attempt === 3 && ctx.envelope.scope === 'tenant' ? ctx.send(ShipOrder(order)) : undefined,
    );
    const envelope = { scope: 'tenant', correlationId: '01999999-0000-7000-8000-000000000000' };
    const run = await runReceptor(onPlaced, OrderPlaced({ orderId: 'a' }), { attempt: 3, envelope });
    expect(run.expectSent(ShipOrder)).toMatchObject({ ...envelope, address: 'warehouse' });
  });
});
