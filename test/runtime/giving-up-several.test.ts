// An event with several receptors that is given up: onGivenUp of each that is missing, in one transaction.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineEvent, receptor } from '../../src/index.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { deadLetters } from './arrivals.js';
import { recordsIn } from './receptor-records.js';
import { OrderPlaced, service } from './service.js';

const OrderUndone = defineEvent('OrderUndone', {
  schema: z.object({ orderId: z.string(), by: z.string(), reason: z.string() }),
  stream: ({ orderId }) => orderId,
});

/** Receptors of one event that fail so often, and what has come of them. */
function several(failures: Readonly<Record<string, number>>) {
  const runs: string[] = [];
  const undone: string[] = [];
  const placed = Object.entries(failures).map(([name, failing]) =>
    receptor(
      OrderPlaced,
      {
        name,
        retry: { attempts: 2, firstDelaySeconds: 0.02, jitter: 0 },
        onGivenUp: ({ orderId }, ctx, { message: reason }) => {
          runs.push(`${name} given up after ${ctx.attempt}`);
          return OrderUndone({ orderId, by: name, reason });
        },
      },
      (_, { attempt }) => {
        runs.push(`${name} ${attempt}`);
        if (attempt <= failing) throw new Error(`${name} fails`);
      },
    ),
  );
  const undo = receptor(OrderUndone, ({ by, reason }) => void undone.push(`${by}: ${reason}`));
  return { runs, undone, receptors: [...placed, undo] };
}

describe('onGivenUp of several receptors', () => {
  it('onGivenUp is called for the receptor that is missing, when all others are done', async () => {
    await using db = await createTestDatabase();
    const { runs, undone, receptors } = several({ mail: 9, print: 1, ship: 0 });
    await using shop = service(db, { receptors });
    await shop.start();
    await shop.publish(OrderPlaced({ orderId: 'a' }));
    await eventually(async () => expect(undone).toEqual(['mail: mail fails']));
    expect(runs.at(-1)).toBe('mail given up after 2');
    expect(runs.slice(0, -1).toSorted()).toEqual(['mail 1', 'mail 2', 'print 1', 'print 2', 'ship 1']);
    expect(await deadLetters(db)).toMatchObject([
      { error: expect.stringMatching(/^mail: Error: mail fails/) },
    ]);
    expect((await recordsIn(db)).map(({ name, state }) => `${name} ${state}`)).toEqual([
      'mail given up',
      'print done',
      'ship done',
    ]);
  });

  it('onGivenUp of all missing receptors runs in one transaction, in their order', async () => {
    await using db = await createTestDatabase();
    const { runs, undone, receptors } = several({ mail: 9, print: 9 });
    await using shop = service(db, { receptors });
    await shop.start();
    await shop.publish(OrderPlaced({ orderId: 'a' }));
    await eventually(async () => expect(undone).toEqual(['mail: mail fails', 'print: print fails']));
    expect(runs.slice(-2)).toEqual(['mail given up after 2', 'print given up after 2']);
    expect(await deadLetters(db)).toHaveLength(1);
  });
});
