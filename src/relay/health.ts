// The health endpoint: GET /live, /ready and /metrics, and nothing else.
// In: functions that tell. Out: a server that answers. It asks the database nothing by itself.
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WhizbangError } from '../errors.js';

/** Whether the relay can do its work. */
export interface RelayReadiness {
  readonly ready: boolean;
  readonly state: 'starting' | 'running' | 'stopping';
  readonly database: boolean;
  readonly transport: boolean;
}

interface HealthOptions {
  readonly host: string;
  readonly port: number;
  readonly readiness: () => RelayReadiness;
  readonly metrics: () => Promise<string>;
}

interface HealthEndpoint {
  readonly port: number;
  close(): Promise<void>;
}

export async function openHealth({ host, port, readiness, metrics }: HealthOptions): Promise<HealthEndpoint> {
  const json = (response: ServerResponse, status: number, body: object) =>
    answer(response, status, 'application/json', `${JSON.stringify(body)}\n`);
  const routes: Readonly<Record<string, (response: ServerResponse) => void | Promise<void>>> = {
    '/live': (response) => json(response, 200, { live: true }),
    '/ready': (response) => {
      const state = readiness();
      json(response, state.ready ? 200 : 503, state);
    },
    '/metrics': async (response) =>
      answer(response, 200, 'text/plain; version=0.0.4; charset=utf-8', await metrics()),
  };
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
    if (route === undefined) return json(response, 404, { error: 'There is /live, /ready and /metrics.' });
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return json(response, 405, { error: 'Only GET is answered.' });
    Promise.resolve(route(response)).catch(() => json(response, 500, { error: 'It cannot be told.' }));
  });
  await listen(server, host, port);
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function answer(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  });
  response.end(body);
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new WhizbangError('INVALID_OPTION', {
      message: `relay: --health-port ${port} cannot be opened on ${host} (${(error as NodeJS.ErrnoException).code}).`,
      hint: 'Give another --health-port or --health-host, or end the process that has it.',
      details: { option: '--health-port', value: port },
      cause: error,
    });
  }
}
