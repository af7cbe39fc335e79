import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineEvent } from '../../src/messages/index.js';
import { type Receptor, type ReceptorOptions, receptor } from '../../src/receptors/index.js';
import { refusalOf } from '../messages/refusal.js';

const OrderPlaced = defineEvent('OrderPlaced', { schema: z.object({ total: z.number() }) });
const handler = () => undefined;
const context = {} as Parameters<Receptor['handle']>[1];

describe('A receptor', () => {
  it('a receptor is a handler with the message that it handles', () => {
    const made = receptor(OrderPlaced, (order) => {
      seen.push(order.total);
    });
    const seen: number[] = [];
    made.handle({ total: 5 }, context);
    expect(seen).toEqual([5]);
    expect(made).toMatchObject({
      name: 'OrderPlaced',
      definition: OrderPlaced,
      transactional: true,
      alone: false,
      retry: {},
    });
    expect(made.timeoutSeconds).toBeUndefined();
    expect(Object.isFrozen(made)).toBe(true);
  });

  it('a receptor has the options that it is given', () => {
    const options = {
      name: 'billing',
      transaction: false,
      alone: true,
      retry: { attempts: 3 },
      timeoutSeconds: 0.5,
    } as const;
    expect(receptor(OrderPlaced, options, handler)).toMatchObject({
      name: 'billing',
      transactional: false,
      alone: true,
      retry: { attempts: 3 },
      timeoutSeconds: 0.5,
    });
  });
});

describe('Receptors that are refused', () => {
  const refused = (options: unknown) =>
    refusalOf(() => receptor(OrderPlaced, options as ReceptorOptions<true>, handler), 'INVALID_OPTION');

  it.each([
    [{ timeoutSeconds: 0 }, 'timeoutSeconds'],
    [{ timeoutSeconds: -1 }, 'timeoutSeconds'],
    [{ timeoutSeconds: '5' }, 'timeoutSeconds'],
    [{ name: '' }, 'name'],
    [{ name: 7 }, 'name'],
    [{ transaction: 'no' }, 'transaction'],
    [{ alone: 'yes' }, 'alone'],
    [{ retry: 5 }, 'retry'],
    [{ retry: null }, 'retry'],
    [{ retry: { attempts: 0 } }, 'attempts'],
    [{ retry: { isFinal: true } }, 'retry.isFinal'],
  ])('a receptor is refused with the options %j', async (options, option) => {
    const error = await refused(options);
    expect(error.details.option).toBe(option);
    expect(error.message).toContain('receptor(OrderPlaced)');
  });

  it('a receptor with a misspelt option is refused, with the one that was meant', async () => {
    expect((await refused({ timeoutSecond: 5 })).hint).toBe('Did you mean timeoutSeconds?');
    expect((await refused({ retry: { attemps: 5 } })).hint).toBe('Did you mean attempts?');
  });

  it('a receptor is refused when its options come after the handler', async () => {
    const swapped = () => receptor(OrderPlaced, handler as never, { timeoutSeconds: 5 } as never);
    const { message, hint } = await refusalOf(swapped, 'INVALID_OPTION');
    expect(message).toContain('the handler, which must be the last');
    expect(hint).toContain('receptor(OrderPlaced, { timeoutSeconds: 30 }, handler)');
  });

  it('a receptor is refused without a handler, or without a definition', async () => {
    expect((await refusalOf(() => receptor(OrderPlaced, {} as never), 'INVALID_OPTION')).details.option).toBe(
      'handler',
    );
    const wrong = () => receptor('OrderPlaced' as never, handler);
    expect((await refusalOf(wrong, 'INVALID_OPTION')).details.option).toBe('definition');
  });
});
