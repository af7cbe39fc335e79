// What every strategy promises, whenever it sends. A strategy that cannot have a promise says why in `skips`.
import { describe } from 'vitest';
import type { StrategyName } from '../../src/strategies/index.js';
import { describeEnding } from './suite/ending.js';
import { describeRefusals } from './suite/refusals.js';
import { describeSending } from './suite/sending.js';
import { describeSendingByItself } from './suite/sending-by-itself.js';
import { StrategySubject } from './suite/subject.js';
import { describeWithdrawing } from './suite/withdrawing.js';

export function describeStrategy(name: StrategyName, skips: { 'sends by itself'?: string } = {}): void {
  describe(`The strategy ${name}`, () => {
    const subject = new StrategySubject(name);
    describeSending(subject);
    describeRefusals(subject);
    describeWithdrawing(subject);
    describeEnding(subject);
    const reason = skips['sends by itself'];
    describe.skipIf(reason !== undefined)(`when nobody flushes${reason ? ` (skipped: ${reason})` : ''}`, () =>
      describeSendingByItself(subject),
    );
  });
}
