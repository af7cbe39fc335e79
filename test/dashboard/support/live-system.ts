// The whole of it for the test in a browser: a database, three processes of the shop, the page in a server, and a Chromium that looks at it.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { migrate } from '../../../src/migrate/index.js';
import { createTestDatabase, type TestDatabase } from '../../support/database.js';
import { launch } from './browser.js';
import { open } from './pages.js';
import { fill, startInstance } from './shop.js';
import { createShop } from './shop-instance.js';

export interface LiveSystem {
  readonly db: TestDatabase;
  readonly shop: ReturnType<typeof createShop>;
  readonly instances: readonly ChildProcess[];
  readonly page: Page;
  readonly url: string;
  /** Errors of the page's scripts and of what it asked for. */
  readonly problems: readonly string[];
  readonly stop: () => Promise<void>;
}

/** Everybody may act but bob. */
export async function startLiveSystem(): Promise<LiveSystem> {
  const db = await createTestDatabase();
  const instances = await Promise.all([1, 2, 3].map(() => startInstance(db.connectionString)));
  const shop = createShop(db.connectionString, () => true);
  await fill(shop, db);
  await migrate({ connectionString: db.connectionString, schema: 'billing' });
  const dashboard = open(db, {
    schemas: ['whizbang', 'billing'],
    allowActions: (who) => who !== 'bob',
    traceUrl: 'https://traces.example/{traceId}',
  });
  const server = createServer((request, response) => void dashboard.handle(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const browser = await launch();
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' });
  page.setDefaultTimeout(30_000);
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('401')) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  return {
    db,
    shop,
    instances,
    page,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    problems,
    stop: async () => {
      await browser.close();
      for (const child of instances) child.kill('SIGKILL');
      server.closeAllConnections();
      server.close();
      await dashboard.close();
      await shop.stop();
      await db.drop();
    },
  };
}
