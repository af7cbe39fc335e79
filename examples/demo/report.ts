import { paint } from './paint.js';
import type { Verdict } from './verdict.js';

/** The final text of the demo, and its exit code: 0 only when every promise was kept. */
export function reportOf(verdicts: readonly Verdict[]): { readonly text: string; readonly exitCode: 0 | 1 } {
  const allHold = verdicts.length > 0 && verdicts.every(({ holds }) => holds);
  const width = Math.max(...verdicts.map(({ claim }) => claim.length));
  const lines = verdicts.map(
    ({ holds, claim, found }) =>
      `   ${holds ? paint('green', 'ok ') : paint('red', 'NO ')}  ${claim.padEnd(width)}  ${found}`,
  );
  const text = [
    '',
    'Result, from the tables of whizbang and from what the receptors wrote:',
    ...lines,
    '',
    allHold ? 'Everything is as promised.' : 'Not every promise was kept.',
  ].join('\n');
  return { text, exitCode: allHold ? 0 : 1 };
}
