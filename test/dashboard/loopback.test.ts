// The page without a token: for this machine alone, whatever a request says of itself.
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { open } from './support/pages.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

/** A real server, asked with any Host. */
async function askServer(
  page: ReturnType<typeof open>,
  headers: Record<string, string>,
  path = '/api/session',
) {
  const server = createServer((request, response) => void page.handle(request, response)).listen(
    0,
    '127.0.0.1',
  );
  const { port } = await new Promise<AddressInfo>((resolve) =>
    server.once('listening', () => resolve(server.address() as AddressInfo)),
  );
  try {
    return await new Promise<number>((resolve, reject) => {
      send({ port, path, headers: { host: `127.0.0.1:${port}`, ...headers } }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      })
        .on('error', reject)
        .end();
    });
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe('A page without a token', () => {
  it('a page without a token refuses every Host but those of this machine', async () => {
    const page = open(db, { token: undefined });
    expect(await askServer(page, {})).toBe(200);
    expect(await askServer(page, { host: 'localhost:1234' })).toBe(200);
    for (const host of ['evil.example', '127.0.0.1.evil.example', 'localhost.evil.example', '10.0.0.1'])
      for (const path of ['/', '/api/session', '/api/live', '/api/overview'])
        expect([host, path, await askServer(page, { host }, path)]).toEqual([host, path, 403]);
    for (const host of ['localhost@evil.example', 'localhost/', 'local host'])
      expect([host, await askServer(page, { host })]).toEqual([host, 400]);
  });

  it('a page without a token refuses what a proxy passes on', async () => {
    const page = open(db, { token: undefined });
    expect(await askServer(page, { 'x-forwarded-for': '203.0.113.7' })).toBe(403);
    expect(await askServer(page, { forwarded: 'for=203.0.113.7' })).toBe(403);
  });

  it('a page without a token refuses another machine that writes localhost as Host', async () => {
    const page = open(db, { token: undefined });
    const answered = (remoteAddress: string) => {
      const response = { writeHead: vi.fn(), on: vi.fn(), end: vi.fn(), flushHeaders: vi.fn() };
      const request = {
        method: 'HEAD',
        url: '/',
        headers: { host: 'localhost' },
        headersDistinct: { host: ['localhost'] },
        socket: { remoteAddress },
      };
      return page
        .handle(request as never, response as never)
        .then(() => response.writeHead.mock.calls[0]?.[0]);
    };
    expect(await answered('203.0.113.7')).toBe(403);
    expect(await answered('::ffff:127.0.0.1')).toBe(200);
  });

  it('a page without a token is closed in production where the sender is not known', async () => {
    const { fetch } = open(db, { token: undefined });
    const status = async () => (await fetch(new Request('http://localhost/api/session'))).status;
    expect(await status()).toBe(200);
    vi.stubEnv('NODE_ENV', 'production');
    expect(await status()).toBe(403);
    vi.unstubAllEnvs();
    expect(
      (await fetch(new Request('http://localhost/', { headers: { host: 'evil.example' } }))).status,
    ).toBe(403);
  });
});
