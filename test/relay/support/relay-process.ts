import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { bundled } from '../../support/bundled.js';
import { eventually } from '../../support/eventually.js';

const program = new URL('relay-program.ts', import.meta.url);

interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly [fact: string]: unknown;
}

interface RelayProcess extends AsyncDisposable {
  readonly lines: readonly LogLine[];
  /** Everything that it has printed. */
  readonly printed: () => string;
  /** With its exit code, or by its signal. */
  readonly ended: Promise<number | string>;
  readonly stderr: Promise<string>;
  signal(signal: NodeJS.Signals): void;
  untilLogged(message: string): Promise<LogLine>;
  /** Asks the health endpoint, which it has opened on a free port. */
  get(path: string, method?: string): Promise<{ status: number; body: string }>;
}

/** Starts `whizbang relay` in a process of its own, with no settings but these. It is killed at the end. */
export function startRelay(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): RelayProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(DATABASE_URL$|WHIZBANG_)/.test(name));
  const child = spawn(process.execPath, [bundled(program), 'relay', ...args], {
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: LogLine[] = [];
  const printed: string[] = [];
  createInterface(child.stdout).on('line', (line) => {
    printed.push(line);
    if (line.startsWith('{')) lines.push(JSON.parse(line) as LogLine);
  });
  const stderr = text(child.stderr);
  const ended = once(child, 'close').then(([code, signal]) => (signal ?? code) as number | string);
  const untilLogged = (message: string) =>
    eventually(() => {
      const found = lines.find((line) => line.message === message);
      if (found === undefined) throw new Error(`it has not logged "${message}":\n${printed.join('\n')}`);
      return found;
    });
  return {
    lines,
    printed: () => printed.join('\n'),
    ended,
    stderr,
    signal: (signal) => void child.kill(signal),
    untilLogged,
    get: async (path, method = 'GET') => {
      const { port } = await untilLogged('The health endpoint is open');
      const response = await fetch(`http://127.0.0.1:${String(port)}${path}`, { method });
      return { status: response.status, body: await response.text() };
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** The arguments of a relay that publishes to the broker of the tests. */
export const relayArgs = (connectionString: string, port: number, ...others: readonly string[]) => [
  ...['--database-url', connectionString, '--service', 'till', '--to', `test://127.0.0.1:${port}`],
  ...others,
];
