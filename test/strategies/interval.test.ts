import { expect, it } from 'vitest';
import { createStrategy } from '../../src/strategies/index.js';
import { describeStrategy } from './suite.js';
import { numbered, openWorkbench, range } from './workbench.js';

describeStrategy('interval');

it('the interval strategy sends what came during the interval in one call', async () => {
  await using bench = await openWorkbench();
  await using strategy = createStrategy('interval', { coordinator: bench.coordinator, intervalMs: 20 });
  const queued = range(1, 100).map((n) => strategy.queueOutboxMessage(numbered(n)));
  expect(bench.calls).toEqual([]);
  await Promise.all(queued.map(({ carried }) => carried));
  expect(bench.calls).toHaveLength(1);
  expect(await bench.stored()).toEqual(range(1, 100));
});

it('the interval strategy sends earlier when enough is queued', async () => {
  await using bench = await openWorkbench();
  const options = { coordinator: bench.coordinator, intervalMs: 60_000, maxQueued: 10 };
  await using strategy = createStrategy('interval', options);
  const queued = range(1, 10).map((n) => strategy.queueOutboxMessage(numbered(n)));
  await Promise.all(queued.map(({ carried }) => carried));
  expect(await bench.stored()).toEqual(range(1, 10));
});

it('the interval strategy makes no calls while nothing is queued', async () => {
  await using bench = await openWorkbench();
  await using strategy = createStrategy('interval', { coordinator: bench.coordinator, intervalMs: 1 });
  await strategy.queueOutboxMessage(numbered(1)).carried;
  for (let turn = 0; turn < 20; turn++) await bench.stored(); // many intervals long
  expect(bench.calls).toHaveLength(1);
});
