import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { bundled } from '../support/bundled.js';

/** The command in one file, for a process that a test talks to. */
export const cliProgram = () => bundled(new URL('../../src/cli/whizbang.ts', import.meta.url));

interface CliRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command as a user would, in a process of its own. DATABASE_URL is what `env` says, or not set. */
export async function runCli(args: string[], env: { DATABASE_URL?: string } = {}): Promise<CliRun> {
  const { DATABASE_URL: _, ...inherited } = process.env;
  const child = spawn(process.execPath, [cliProgram(), ...args], {
    env: { ...inherited, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number]>,
  ]);
  return { code, stdout, stderr };
}
