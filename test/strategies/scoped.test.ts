import { expect, it } from 'vitest';
import { createStrategy } from '../../src/strategies/index.js';
import { describeStrategy } from './suite.js';
import { numbered, openWorkbench, range, stateOf } from './workbench.js';

describeStrategy('scoped', { 'sends by itself': 'a scope sends at its end only' });

it('the scoped strategy sends nothing before its end, and then all in one call', async () => {
  await using bench = await openWorkbench();
  const scope = createStrategy('scoped', { coordinator: bench.coordinator });
  const queued = range(1, 10).map((n) => scope.queueOutboxMessage(numbered(n)));
  expect(await stateOf(Promise.race(queued.map(({ carried }) => carried)))).toBe('pending');
  expect(bench.calls).toEqual([]);
  await scope.dispose();
  expect(bench.calls).toHaveLength(1);
});

it('scopes of one coordinator that end at the same time share their calls', async () => {
  await using bench = await openWorkbench();
  const request = async (n: number) => {
    await using scope = createStrategy('scoped', { coordinator: bench.coordinator });
    for (const i of [1, 2, 3]) scope.queueOutboxMessage(numbered(10 * n + i));
  };
  await Promise.all(range(1, 100).map(request));
  expect(bench.calls.length).toBeLessThanOrEqual(3);
  expect(await bench.stored()).toHaveLength(300);
});

it('a scope whose code throws still sends what it had queued', async () => {
  await using bench = await openWorkbench();
  const request = async () => {
    await using scope = createStrategy('scoped', { coordinator: bench.coordinator });
    scope.queueOutboxMessage(numbered(1));
    throw new Error('later');
  };
  await expect(request()).rejects.toThrow('later');
  expect(await bench.stored()).toEqual([1]);
});
