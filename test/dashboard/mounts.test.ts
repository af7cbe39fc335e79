// The page in the servers of others, below a path of theirs: the page, its files, a question, an action, and live updates.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Dashboard } from '../../src/dashboard/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { bearer, open } from './support/pages.js';

let db: TestDatabase;
let page: Dashboard;
beforeAll(async () => {
  db = await createTestDatabase();
  page = open(db, { allowActions: true });
});
afterAll(async () => {
  await page.close();
  await db.drop();
});

/** Looks at all kinds of answers, as a browser that was sent to the path without its slash. */
async function look(port: number): Promise<void> {
  const root = `http://127.0.0.1:${port}/ops/whizbang`;
  const first = await fetch(root, { headers: bearer });
  expect([first.status, first.url]).toEqual([200, `${root}/`]);
  const asset = /src="([^"]+\.js)"/.exec(await first.text())?.[1] ?? '';
  const script = await fetch(new URL(asset, first.url));
  expect([script.status, script.headers.get('content-type')]).toEqual([
    200,
    'text/javascript; charset=utf-8',
  ]);
  await script.text();
  const session = await fetch(`${root}/api/session`, { headers: bearer });
  expect(await session.json()).toMatchObject({ mayAct: true });
  const acted = await fetch(`${root}/api/retry-dead-letters`, {
    method: 'POST',
    headers: { ...bearer, 'content-type': 'application/json', origin: `http://127.0.0.1:${port}` },
    body: JSON.stringify({ type: 'None' }),
  });
  expect(await acted.json()).toEqual({ letters: [] });
  const stop = new AbortController();
  const live = await fetch(`${root}/api/live`, { headers: bearer, signal: stop.signal });
  const { value } = (await live.body?.getReader().read()) ?? {};
  expect(new TextDecoder().decode(value as Uint8Array)).toContain('event: past');
  stop.abort();
}

const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port;

describe('The page in another server', () => {
  it('the page is mounted in Hono', async () => {
    const app = new Hono();
    app.all('/ops/whizbang/*', (c) => page.fetch(c.req.raw));
    app.all('/ops/whizbang', (c) => page.fetch(c.req.raw));
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
    await once(server, 'listening');
    await look(portOf(server));
    server.close();
  });

  it('the page is mounted in Express, behind a parser of bodies too', async () => {
    const app = express();
    app.use(express.json());
    app.use('/ops/whizbang', (request, response) => page.handle(request, response));
    const server = app.listen(0, '127.0.0.1');
    await once(server, 'listening');
    await look(portOf(server));
    server.closeAllConnections();
    server.close();
  });

  it('the page is mounted in Fastify, which has read the body', async () => {
    const app = fastify();
    const handler = (request: { raw: never; body: unknown }, reply: { hijack(): void; raw: never }) => {
      reply.hijack();
      return page.handle(request.raw, reply.raw, request.body);
    };
    app.all('/ops/whizbang', handler as never);
    app.all('/ops/whizbang/*', handler as never);
    await app.listen({ port: 0, host: '127.0.0.1' });
    await look(portOf(app.server));
    app.server.closeAllConnections();
    await app.close();
  });

  it('the page is mounted in a server of Node', async () => {
    const server = createServer((request, response) => void page.handle(request, response)).listen(
      0,
      '127.0.0.1',
    );
    await once(server, 'listening');
    await look(portOf(server));
    server.closeAllConnections();
    server.close();
  });
});
