import { expect, it } from 'vitest';
import { createStrategy } from '../../src/strategies/index.js';
import { describeStrategy } from './suite.js';
import { numbered, openWorkbench, range } from './workbench.js';

describeStrategy('immediate');

it('the immediate strategy makes a call per message while each waits for the one before', async () => {
  await using bench = await openWorkbench();
  await using strategy = createStrategy('immediate', { coordinator: bench.coordinator });
  for (const n of range(1, 20)) await strategy.queueOutboxMessage(numbered(n)).carried;
  expect(bench.calls).toHaveLength(20);
  expect(await bench.stored()).toEqual(range(1, 20));
});

it('the immediate strategy makes a few calls for a thousand messages at the same time', async () => {
  await using bench = await openWorkbench();
  await using strategy = createStrategy('immediate', { coordinator: bench.coordinator });
  const send = async (n: number) => {
    await Promise.resolve();
    await strategy.queueOutboxMessage(numbered(n)).carried;
  };
  await Promise.all(range(1, 1000).map(send));
  expect(bench.calls.length).toBeLessThanOrEqual(3);
  expect(await bench.stored()).toEqual(range(1, 1000));
});

it('the immediate strategy sends what a failed call left together with the next unit', async () => {
  await using bench = await openWorkbench();
  const strategy = createStrategy('immediate', { coordinator: bench.coordinator, onError: () => {} });
  await bench.takeSchemaAway();
  strategy.queueOutboxMessage(numbered(1));
  await strategy.flush().catch(() => {});
  await bench.bringSchemaBack();
  await strategy.queueOutboxMessage(numbered(2)).carried;
  expect(await bench.stored()).toEqual([1, 2]);
  await strategy.dispose();
});
