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
    'Verdict, from the database and from what the receptors wrote there:',
    ...lines,
    '',
    allHold ? 'Everything is as promised.' : 'Something is off.',
  ].join('\n');
  return { text, exitCode: allHold ? 0 : 1 };
}
