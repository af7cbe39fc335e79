import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { metricTable } from '../../src/telemetry/metric-table.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { alertExpressions, asked, dashboardExpressions, seriesOf } from './support/expressions.js';
import { type Service, startService } from './support/process.js';
import { hasPrometheus, startPrometheus } from './support/prometheus.js';
import type { PlainSpan } from './support/spans.js';

const isThere = hasPrometheus();
let shopDb: TestDatabase;
let ledgerDb: TestDatabase;
let shop: Service;
let ledger: Service;

beforeAll(async () => {
  [shopDb, ledgerDb] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  ledger = await startService({
    service: 'ledger',
    connectionString: ledgerDb.connectionString,
    books: true,
  });
  const { connectionString } = shopDb;
  shop = await startService({
    service: 'shop',
    connectionString,
    ledger: ledgerDb.connectionString,
    books: false,
  });
});
afterAll(async () => {
  await Promise.all([shop?.kill(), ledger?.kill()]);
  await Promise.all([shopDb?.drop(), ledgerDb?.drop()]);
});

const named = (spans: readonly PlainSpan[], name: string) => spans.find((span) => span.name === name);

describe('A trace over two processes', () => {
  it('one trace goes from the request through outbox, transport, inbox and receptor to the perspective', async () => {
    shop.place('order-1');
    const all = () => [...shop.spans, ...ledger.spans];
    const spans = await eventually(() => {
      expect(named(all(), 'process bookings')).toBeDefined();
      return all();
    });
    const request = named(spans, 'POST /orders') as PlainSpan;
    const create = named(shop.spans, 'create OrderPlaced') as PlainSpan;
    const send = named(shop.spans, 'send OrderPlaced') as PlainSpan;
    const book = named(ledger.spans, 'process OrderPlaced') as PlainSpan;
    const booked = named(ledger.spans, 'create OrderBooked') as PlainSpan;
    const follow = named(ledger.spans, 'process bookings') as PlainSpan;
    expect(new Set([request, create, send, book, booked, follow].map(({ traceId }) => traceId)).size).toBe(1);
    expect(create).toMatchObject({ parentId: request.spanId, kind: 3 });
    expect(send).toMatchObject({ parentId: create.spanId, links: [create.spanId], kind: 2 });
    expect(book).toMatchObject({ parentId: create.spanId, links: [create.spanId], kind: 4 });
    expect(booked).toMatchObject({ parentId: book.spanId });
    expect(follow).toMatchObject({ parentId: booked.spanId, links: [booked.spanId], kind: 4 });
    expect(book.attributes).toMatchObject({
      'messaging.system.name': 'postgresql',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.destination.name': 'OrderPlaced',
      'messaging.consumer.group.name': 'ledger',
      'messaging.message.id': create.attributes['messaging.message.id'],
      'messaging.message.conversation_id': create.attributes['messaging.message.conversation_id'],
      'whizbang.receptor.name': 'book',
      'whizbang.instance.id': ledger.instanceId,
      'whizbang.attempt': 1,
    });
  });
});

describe('Metrics over two processes', () => {
  /** Everything that both tell, once an order was booked, one was tried again and one was given up. */
  async function scraped(): Promise<string> {
    shop.place('order-2', 1);
    shop.place('order-3', 2);
    return eventually(async () => {
      const text = `${await shop.scrape()}\n${await ledger.scrape()}`;
      expect(text).toMatch(/^whizbang_given_up_messages_total\{/m);
      expect(text).toMatch(/^whizbang_perspective_lag\{/m);
      return text;
    });
  }

  it('every metric and label of the shipped dashboard and alert rules is in what services tell', async () => {
    const series = seriesOf(await scraped());
    const expressions = [...dashboardExpressions(), ...alertExpressions()];
    expect(alertExpressions().length).toBeGreaterThan(5);
    expect(dashboardExpressions().length).toBeGreaterThan(15);
    const missing = expressions.flatMap(asked).filter(({ metric, labels }) => {
      const found = series.get(metric) ?? [];
      return !found.some((has) => labels.every((label) => has.has(label)));
    });
    expect(missing).toEqual([]);
  });

  it('services tell exactly the metrics of the table, with its attributes, and none with an id', async () => {
    const text = await scraped();
    const series = seriesOf(text);
    const plain = (name: string) => name.replaceAll('.', '_');
    const told = [...series.keys()]
      .filter((name) => name !== 'target_info')
      .map((name) => name.replace(/_(total|bucket|sum|count)$/, ''));
    const table = Object.values(metricTable);
    expect([...new Set(told)].sort()).toEqual(table.map(({ name }) => plain(name)).sort());
    const known = new Map(table.map(({ name, attributes }) => [plain(name), attributes.map(plain)]));
    for (const [name, all] of series) {
      const allowed = known.get(name.replace(/_(total|bucket|sum|count)$/, '')) ?? [];
      const strange = all.flatMap((labels) =>
        [...labels].filter((label) => !allowed.includes(label) && !/^(le|otel_scope_\w+)$/.test(label)),
      );
      if (name !== 'target_info') expect({ name, strange }).toEqual({ name, strange: [] });
    }
    expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/);
    expect(text).not.toContain('order-');
  });

  if (!isThere)
    console.warn('No Prometheus is installed: its queries and rules are checked by their names only.');
  it.skipIf(!isThere)(
    'a real Prometheus answers each query of the dashboard, and evaluates each alert rule',
    async () => {
      await scraped();
      await using prometheus = await startPrometheus([shop.endpoint, ledger.endpoint]);
      const query = (expr: string) =>
        prometheus.get('/api/v1/query', {
          query: expr.replaceAll('$service', 'ledger').replaceAll('$__rate_interval', '30s'),
        }) as Promise<{ result: unknown[] }>;
      for (const expr of dashboardExpressions()) {
        await eventually(async () =>
          expect({ expr, found: (await query(expr)).result.length > 0 }).toMatchObject({ found: true }),
        );
      }
      await eventually(async () => {
        const { groups } = (await prometheus.get('/api/v1/rules')) as {
          groups: { rules: { health: string }[] }[];
        };
        const health = groups.flatMap(({ rules }) => rules.map((rule) => rule.health));
        expect(health).toEqual(alertExpressions().map(() => 'ok'));
      });
    },
  );
});
