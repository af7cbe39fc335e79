// Real spans of the real SDK, in this process: what a message continues, and what it is only linked to.
import { trace } from '@opentelemetry/api';
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createWhizbang, newMessageId, receptor, type WhizbangOptions } from '../../src/index.js';
import { type Logger, silentLogger } from '../../src/logger.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { book, OrderBooked, OrderPlaced } from './support/shop.js';
import { type PlainSpan, plainSpan } from './support/spans.js';

const exporter = new InMemorySpanExporter();
let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());
beforeEach(() => {
  new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
});
afterEach(() => {
  exporter.reset();
  trace.disable();
});

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';
const traceparent = `00-${traceId}-${spanId}-01`;

const spans = (name: string): PlainSpan[] =>
  exporter
    .getFinishedSpans()
    .filter((span) => span.name === name)
    .map(plainSpan);

const until = (name: string, count = 1) =>
  eventually(() => {
    expect(spans(name)).toHaveLength(count);
    return spans(name) as [PlainSpan, ...PlainSpan[]];
  });

async function started(options: Partial<WhizbangOptions> = {}) {
  const { connectionString } = db;
  const given = {
    service: 'shop',
    connectionString,
    logger: silentLogger,
    receptors: [book],
    ...options,
  };
  return createWhizbang(given as WhizbangOptions).start();
}

/** Stores an order as another program would, sent a while ago. */
const insert = (metadata: object | null, orderId: string = newMessageId()) =>
  db.pool.query(
    `insert into wh_inbox (message_id, handler_name, event_type, event_data, metadata)
     values ($1, 'OrderPlaced', 'OrderPlaced', $2, $3)`,
    [newMessageId(), JSON.stringify({ orderId }), metadata === null ? null : JSON.stringify(metadata)],
  );

const hop = (secondsAgo: number) => ({
  service: 'web',
  instanceId: 'x',
  at: new Date(Date.now() - secondsAgo * 1000).toISOString(),
});

describe('A message in a trace', () => {
  it('a young message continues the trace that it was sent in, and is linked to it', async () => {
    await using _ = await started();
    await insert({ traceparent, hops: [hop(10)] });
    const [span] = await until('process OrderPlaced');
    expect(span).toMatchObject({ traceId, parentId: spanId, links: [spanId] });
  });

  it('an old message begins a trace of its own, linked to that of its sender', async () => {
    await using _ = await started();
    await insert({ traceparent, hops: [hop(301)] });
    const [span] = await until('process OrderPlaced');
    expect(span).toMatchObject({ parentId: undefined, links: [spanId] });
    expect(span.traceId).not.toBe(traceId);
    // What the receptor sends continues the new trace, and not the old one.
    expect((await until('create OrderBooked'))[0]).toMatchObject({
      traceId: span.traceId,
      parentId: span.spanId,
    });
  });

  it('the option continueSeconds says how old a message may be that continues its trace', async () => {
    await using _ = await started({ telemetry: { continueSeconds: 600 } });
    await insert({ traceparent, hops: [hop(301)] });
    expect((await until('process OrderPlaced'))[0]).toMatchObject({ traceId, links: [spanId] });
  });

  it('a message that is tried again begins a trace of its own, linked to that of its sender', async () => {
    await using shop = await started();
    await shop.publish(OrderPlaced({ orderId: newMessageId(), failures: 1 }));
    const [first, second] = await until('process OrderPlaced', 2);
    const [created] = spans('create OrderPlaced');
    expect(first).toMatchObject({ parentId: created?.spanId, hasFailed: true });
    expect(first.attributes).toMatchObject({ 'error.type': 'RangeError', 'whizbang.attempt': 1 });
    expect(second).toMatchObject({ parentId: undefined, links: [created?.spanId], hasFailed: false });
    expect(second?.attributes).toMatchObject({ 'whizbang.attempt': 2 });
    expect(second?.traceId).not.toBe(first.traceId);
  });

  it('a message of a plain insert, without a trace, begins one', async () => {
    await using _ = await started();
    await insert(null);
    const [span] = await until('process OrderPlaced');
    expect(span).toMatchObject({ parentId: undefined, links: [] });
    expect((await until('create OrderBooked'))[0]).toMatchObject({ traceId: span.traceId });
  });

  it('a trace that the call names is passed on as it is', async () => {
    await using shop = await started();
    await shop.publish(OrderPlaced({ orderId: newMessageId() }), { traceparent });
    expect((await until('process OrderPlaced'))[0]).toMatchObject({ traceId, parentId: spanId });
    expect(spans('create OrderPlaced')).toEqual([]);
  });
});

describe('Telemetry that is off', () => {
  it('telemetry that is turned off makes no span, and messages keep the trace of their sender', async () => {
    const seen: string[] = [];
    const sees = receptor(OrderBooked, (_, ctx) => void seen.push(ctx.envelope.traceparent));
    await using _ = await started({ telemetry: false, receptors: [book, sees] });
    await insert({ traceparent, hops: [hop(1)] });
    // What the test before left in the outbox may arrive as well.
    await eventually(() => expect(seen).toContainEqual(expect.stringContaining(traceId)));
    expect(exporter.getFinishedSpans()).toEqual([]);
  });

  it('an SDK that is set up after the start of a service gets its spans', async () => {
    trace.disable();
    await using _ = await started();
    new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
    await insert(null);
    await until('process OrderPlaced');
  });
});

describe('The log of a failure', () => {
  it('the log of a failure names the message, its stream, the instance, the receptor and the trace', async () => {
    const logged: object[] = [];
    const logger: Logger = { ...silentLogger, warn: (facts) => void logged.push(facts) };
    await using shop = await started({ logger });
    const messageId = await shop.publish(OrderPlaced({ orderId: newMessageId(), failures: 1 }));
    const [span] = await until('process OrderPlaced', 2);
    expect(logged).toContainEqual(
      expect.objectContaining({
        messageId,
        streamId: span.attributes['whizbang.stream.id'],
        instanceId: shop.coordinator.instance.instanceId,
        receptor: 'book',
        traceId: span.traceId,
      }),
    );
  });
});
