import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../../examples/relay/consumer.py', import.meta.url));

/** A Python that has pika. Debian's own comes first: its packages are not in others. */
export const python = ['/usr/bin/python3', 'python3'].find(
  (each) => spawnSync(each, ['-c', 'import pika']).status === 0,
);

interface Consumer extends AsyncDisposable {
  readonly lines: readonly string[];
  readonly child: ChildProcess;
}

/** Starts the example, and waits until it listens. */
export async function startConsumer(
  addresses: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Consumer> {
  const child = spawn(python as string, [program, ...addresses], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  const lines: string[] = [];
  const output = createInterface(child.stdout);
  const listening = once(output, 'line');
  await Promise.race([
    listening,
    ended.then(([code]) => {
      throw new Error(`the consumer ended with ${String(code)}`);
    }),
  ]);
  output.on('line', (line) => lines.push(line));
  return {
    lines,
    child,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
