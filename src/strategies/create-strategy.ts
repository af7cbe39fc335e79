import { WhizbangError } from '../errors.js';
import { CallLine, type CallLineOptions } from './call-line.js';
import { QueueingStrategy, type StrategyOptions } from './queueing-strategy.js';
import type { WorkCoordinatorStrategy } from './strategy.js';
import { type StrategyName, strategies } from './when.js';

type Coordinator = CallLineOptions['coordinator'];

/** Options of `createStrategy`. */
export type CreateStrategyOptions = Omit<StrategyOptions, 'line'> &
  (
    | { readonly line: CallLine; readonly coordinator?: undefined }
    | { readonly coordinator: Coordinator; readonly line?: undefined }
  );

const lines = new WeakMap<Coordinator, CallLine>();

/** Creates a strategy. All strategies of the same coordinator share one line, and so one call in flight. */
export function createStrategy(name: StrategyName, options: CreateStrategyOptions): WorkCoordinatorStrategy {
  const { coordinator, line, ...others } = options;
  if (!Object.hasOwn(strategies, name)) {
    throw new WhizbangError('INVALID_OPTION', {
      message: `There is no strategy ${JSON.stringify(name)}.`,
      hint: `Known strategies: ${Object.keys(strategies).join(', ')}.`,
      details: { option: 'strategy', value: name },
    });
  }
  if ((coordinator === undefined) === (line === undefined)) {
    throw new WhizbangError('INVALID_OPTION', {
      message: `${name}: exactly one of coordinator and line is needed.`,
      details: { option: 'coordinator' },
    });
  }
  return new QueueingStrategy(name, { ...others, line: line ?? lineOf(coordinator as Coordinator) });
}

function lineOf(coordinator: Coordinator): CallLine {
  const known = lines.get(coordinator);
  if (known !== undefined) return known;
  const line = new CallLine({ coordinator });
  lines.set(coordinator, line);
  return line;
}
