// What happens inside a request, with the real SDK: a receptor that is invoked, and models that are stored with their events.
import { trace } from '@opentelemetry/api';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createWhizbang, defineCommand, defineEvent, perspective, receptor } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type PlainSpan, plainSpan } from './support/spans.js';

const schema = z.object({ orderId: z.string() });
const Place = defineCommand('Place', { schema });
const Placed = defineEvent('Placed', { schema, stream: ({ orderId }) => orderId });
const model = perspective('placed', { model: schema, inline: true }).starts(Placed, (data) => data);

const internal = 0;

const exporter = new InMemorySpanExporter();
let db: TestDatabase;
beforeAll(() => new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register());
beforeEach(async () => {
  db = await createTestDatabase();
  exporter.reset();
});
afterEach(() => db.drop());
afterAll(() => trace.disable());

/** The worker that follows the log has spans of its own, of another kind, for the perspective's bookmark. */
const span = (name: string) => {
  const [found, ...others] = exporter
    .getFinishedSpans()
    .filter((each) => each.name === name && (!name.startsWith('process') || each.kind === internal));
  expect(others).toEqual([]);
  return plainSpan(found as NonNullable<typeof found>) as PlainSpan;
};

const shopWith = (place: (orderId: string) => void = () => {}) =>
  createWhizbang({
    service: 'shop',
    connectionString: db.connectionString,
    logger: silentLogger,
    perspectives: [model],
    receptors: [
      receptor(Place, { name: 'place' }, async ({ orderId }, ctx) => {
        place(orderId);
        await ctx.publish(Placed({ orderId }));
      }),
    ],
  });

const request = (work: () => Promise<unknown>) =>
  trace.getTracer('web').startActiveSpan('POST /orders', async (active) => {
    await work().finally(() => active.end());
  });

describe('Inside a request', () => {
  it('a receptor that is invoked is a span of the request, and what it sends is within it', async () => {
    await using shop = await shopWith().start();
    await request(() => shop.invoke(Place({ orderId: 'a' })));
    const [web, invoke, create] = [span('POST /orders'), span('invoke Place'), span('create Placed')];
    expect(invoke).toMatchObject({
      traceId: web.traceId,
      parentId: web.spanId,
      kind: internal,
      attributes: {
        'whizbang.receptor.name': 'place',
        'whizbang.message.type': 'Place',
        'whizbang.service.name': 'shop',
      },
    });
    expect(create).toMatchObject({ traceId: web.traceId, parentId: invoke.spanId });
  });

  it('a receptor that is invoked and throws is a span that has failed', async () => {
    await using shop = await shopWith(() => {
      throw new RangeError('no such order');
    }).start();
    await request(() => shop.invoke(Place({ orderId: 'b' })).catch(() => {}));
    expect(span('invoke Place').attributes).toMatchObject({ 'error.type': 'RangeError' });
  });

  it('an inline perspective is a span of what appends its events', async () => {
    await using shop = await shopWith().start();
    await request(() => shop.events.append(Placed({ orderId: 'c' })));
    const web = span('POST /orders');
    expect(span('process placed')).toMatchObject({
      traceId: web.traceId,
      parentId: web.spanId,
      kind: internal,
      attributes: { 'whizbang.perspective.name': 'placed', 'messaging.batch.message_count': 1 },
    });
  });
});
