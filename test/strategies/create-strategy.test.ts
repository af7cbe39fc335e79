import { describe, expect, it } from 'vitest';
import { type NumberOption, strategyOptions } from '../../src/options.js';
import {
  CallLine,
  type CreateStrategyOptions,
  createStrategy,
  type StrategyName,
} from '../../src/strategies/index.js';
import { ScriptedCoordinator } from './scripted-coordinator.js';

const coordinator = new ScriptedCoordinator([]);
const line = new CallLine({ coordinator });
const make =
  (name: string, options: object = { coordinator }) =>
  () =>
    createStrategy(name as StrategyName, options as CreateStrategyOptions);
const refusal = (option: string) =>
  expect.objectContaining({ code: 'INVALID_OPTION', details: expect.objectContaining({ option }) });

describe('createStrategy', () => {
  it.each(['immediate', 'scoped', 'interval'])(
    'createStrategy makes %s with the same options as the others',
    (name) => {
      const options = { intervalMs: 10, maxQueued: 10, onError: () => {} };
      expect(make(name, { coordinator, ...options })).not.toThrow();
      expect(make(name, { line, ...options })).not.toThrow();
    },
  );

  it.each<[string, string, object]>([
    ['strategy', 'toString', { line }],
    ['coordinator', 'scoped', {}],
    ['coordinator', 'scoped', { line, coordinator }],
    ['intervalms', 'interval', { line, intervalms: 5 }],
  ])('createStrategy refuses a wrong %s', (option, name, options) => {
    expect(make(name, options)).toThrow(refusal(option));
  });

  it.each(Object.entries<NumberOption>(strategyOptions))(
    'createStrategy accepts %s up to both ends of its bound',
    (option, { min, max }) => {
      for (const value of [min, max]) expect(make('interval', { line, [option]: value })).not.toThrow();
      for (const value of [min - 1, max + 1, min + 0.5]) {
        expect(make('interval', { line, [option]: value })).toThrow(refusal(option));
      }
    },
  );
});
