// What explain says of the messages of a service that runs: at a limit, held, and in nobody's hands.
import { expect, it } from 'vitest';
import { explain } from '../../../src/operate/index.js';
import { createTestDatabase } from '../../support/database.js';
import { eventually } from '../../support/eventually.js';
import { service } from '../service.js';
import { Judge } from './judge.js';
import { Import, numbers, slow } from './service.js';

it('explain tells a message that waits at a limit from one that runs, in a service', async () => {
  await using db = await createTestDatabase();
  const judge = new Judge();
  await using shop = service(db, { receptors: [slow(Import, judge, { concurrency: 1 })] });
  await shop.start();
  const ids = await shop.send(numbers(3).map((n) => Import({ n, ms: 30_000 })));
  await eventually(() => expect(judge.running()).toBe(1));
  // What an instance asks for is written with its heartbeat, once a second.
  await eventually(async () => {
    const answers = await Promise.all(ids.map((id) => explain(db.pool, 'whizbang', id)));
    expect(answers.map(({ reasons }) => reasons[0]?.code).sort()).toEqual(['at-limit', 'at-limit', 'held']);
    const waiting = answers.filter(({ reasons }) => reasons[0]?.code === 'at-limit');
    expect(waiting.map(({ instances }) => instances.map(({ canTake, code }) => [canTake, code]))).toEqual([
      [[false, 'at-limit']],
      [[false, 'at-limit']],
    ]);
  });
  await shop.stop({ seconds: 0 });
});
