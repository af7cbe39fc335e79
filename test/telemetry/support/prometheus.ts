// A real Prometheus, where one is installed (or its programs are in PROMETHEUS_BIN): it scrapes the services and loads the alert rules.
// In: endpoints. Out: answers to queries, and the health of the rules. It is killed at the end.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '../../docs/page.js';

const program = join(process.env.PROMETHEUS_BIN ?? '', 'prometheus');

export function hasPrometheus(): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

interface Prometheus extends AsyncDisposable {
  get(path: string, parameters?: Record<string, string>): Promise<unknown>;
}

export async function startPrometheus(endpoints: readonly string[]): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'whizbang-prometheus-'));
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [fileURLToPath(new URL('docs/operate/prometheus-alerts.yml', root))],
    scrape_configs: [
      { job_name: 'services', static_configs: [{ targets: endpoints.map((each) => new URL(each).host) }] },
    ],
  };
  writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config)); // JSON is YAML
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn(
    program,
    [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=${address}`,
    ],
    { stdio: 'ignore' },
  );
  const ended = once(child, 'exit');
  return {
    get: async (path, parameters = {}) => {
      const answer = await fetch(`http://${address}${path}?${new URLSearchParams(parameters)}`);
      const { status, data, error } = (await answer.json()) as Record<string, unknown>;
      if (status !== 'success') throw new Error(`${JSON.stringify(parameters)}: ${String(error)}`);
      return data;
    },
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
