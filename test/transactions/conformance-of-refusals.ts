import { expect, it } from 'vitest';
import { asQueryable } from '../../src/transactions/index.js';
import { refusalOf } from './sending.js';
import type { Subject } from './subject.js';
import type { World } from './world.js';

export function describeRefusals(subject: Subject, world: World): void {
  it('an object of a library that is not its transaction is refused, with what to pass', () => {
    const wrong = Object.entries(world.library.notTransactions);
    expect(wrong).not.toEqual([]);
    for (const [what, tx] of wrong) {
      const { code, message, hint } = refusalOf(tx);
      expect(code, what).toBe('UNKNOWN_TRANSACTION');
      expect(message, what).toMatch(/tx is .*not be part of your transaction/);
      expect(hint, what).toMatch(/^Pass |^Call /);
    }
  });

  const itSeesItsEnd = subject.seesItsEnd === false ? undefined : it;
  itSeesItsEnd?.('a statement after the end of the transaction is refused', async () => {
    const ended = await world.library.transaction(async (tx) => asQueryable(tx));
    const late = ended.query("insert into orders values (gen_random_uuid(), 'late') returning id::text");
    await expect(late).rejects.toMatchObject({ code: 'UNKNOWN_TRANSACTION' });
    expect(await world.countOf('orders')).toBe(0);
  });
}
