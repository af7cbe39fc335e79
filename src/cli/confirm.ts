import { createInterface } from 'node:readline/promises';
import { Option } from 'commander';
import { WhizbangError } from '../errors.js';

/** The option of a command that asks before it does something that cannot be undone. */
export function yesOption(): Option {
  return new Option('--yes', 'do it without asking');
}

/** Asks whether to go on, unless `--yes` was given. Where nobody can answer, it refuses. */
export async function confirm(question: string, options: { yes?: boolean }): Promise<boolean> {
  if (options.yes === true) return true;
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    throw new WhizbangError('INVALID_OPTION', {
      message: `This needs an answer, and there is no terminal: ${question}`,
      hint: 'Give --yes to do it without asking.',
      details: { option: '--yes' },
    });
  }
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(es)?$/i.test((await lines.question(`${question} [y/N] `)).trim());
  } finally {
    lines.close();
  }
}
