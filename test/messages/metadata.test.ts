import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  defineCommand,
  type Envelope,
  type EnvelopeRow,
  envelopeOf,
  mostHops,
  newTraceparent,
  parseTraceparent,
  readEnvelope,
  readMetadata,
  toMetadata,
} from '../../src/messages/index.js';
import { refusalOf } from './refusal.js';

const PlaceOrder = defineCommand('PlaceOrder', { schema: z.object({ total: z.coerce.number() }) });

const row = (metadata: unknown, rest: Partial<EnvelopeRow> = {}): EnvelopeRow => ({
  messageId: randomUUID(),
  eventData: { total: '5' },
  metadata,
  scope: null,
  streamId: null,
  ...rest,
});

const text = fc.string({ minLength: 1 });
const hop = fc.record({ service: text, instanceId: fc.uuid(), at: text });
const envelopes: fc.Arbitrary<Envelope> = fc.record({
  messageId: fc.uuid(),
  type: fc.constant('PlaceOrder'),
  kind: fc.constantFrom('command' as const, 'event' as const),
  payload: fc.jsonValue(),
  streamId: fc.option(fc.uuid()),
  correlationId: fc.uuid(),
  causationId: fc.option(fc.uuid()),
  hops: fc.array(hop),
  scope: fc.jsonValue(),
  traceparent: fc.constant(0).map(newTraceparent),
  tracestate: fc.option(text),
  schemaVersion: fc.integer({ min: 1, max: 1000 }),
});

describe('An envelope', () => {
  it('an envelope is unchanged after it was stored as columns and read again', () => {
    fc.assert(
      fc.property(envelopes, (envelope) => {
        const metadata: unknown = JSON.parse(JSON.stringify(toMetadata(envelope)));
        const { messageId, payload, scope, streamId } = envelope;
        expect(envelopeOf({ messageId, eventData: payload, metadata, scope, streamId }, PlaceOrder)).toEqual(
          envelope,
        );
      }),
    );
  });

  it('an envelope has defaults for everything that another program did not write into the row', () => {
    const inserted = row({});
    const { traceparent, ...rest } = envelopeOf(inserted, PlaceOrder);
    expect(rest).toEqual({
      messageId: inserted.messageId,
      type: 'PlaceOrder',
      kind: 'command',
      payload: { total: '5' },
      streamId: null,
      correlationId: inserted.messageId,
      causationId: null,
      hops: [],
      scope: null,
      tracestate: null,
      schemaVersion: 1,
    });
    expect(parseTraceparent(traceparent)).toBeDefined();
  });

  it('an envelope can be read whatever the metadata contains', () => {
    const wild = fc.oneof(
      fc.anything(),
      fc.record(
        Object.fromEntries(
          ['kind', 'correlationId', 'causationId', 'hops', 'traceparent', 'tracestate', 'schemaVersion'].map(
            (key) => [key, fc.anything()],
          ),
        ),
        { requiredKeys: [] },
      ),
    );
    fc.assert(
      fc.property(wild, (metadata) => {
        const envelope = envelopeOf(row(metadata), PlaceOrder);
        expect(envelope.correlationId).toEqual(expect.any(String));
        expect(Number.isInteger(envelope.schemaVersion)).toBe(true);
        expect(parseTraceparent(envelope.traceparent)).toBeDefined();
        for (const { service } of envelope.hops) expect(service).toEqual(expect.any(String));
      }),
    );
  });

  it('an envelope keeps the fields that are right when others are wrong', () => {
    const correlationId = randomUUID();
    const metadata = {
      correlationId,
      causationId: 7,
      hops: [{ service: 'shop' }, 'x', null],
      schemaVersion: '2',
    };
    expect(readMetadata(metadata)).toEqual({
      correlationId,
      hops: [{ service: 'shop', instanceId: '', at: '' }],
    });
  });

  it('an envelope drops the tracestate of a traceparent that cannot be read', () => {
    expect(envelopeOf(row({ traceparent: 'x', tracestate: 'a=1' }), PlaceOrder).tracestate).toBeNull();
  });

  it('an envelope keeps the latest hops of a message that has made too many', () => {
    const hops = Array.from({ length: 500 }, (_, i) => ({ service: `s${i}`, instanceId: 'i', at: 'now' }));
    const metadata = toMetadata({ ...envelopeOf(row({}), PlaceOrder), hops });
    expect(metadata.hops).toHaveLength(mostHops);
    expect(metadata.hops.at(-1)?.service).toBe('s499');
    expect(envelopeOf(row({ hops }), PlaceOrder).hops).toEqual(metadata.hops);
  });

  it('an envelope is read with its payload checked, in the output of the schema', async () => {
    expect((await readEnvelope(row({}), PlaceOrder)).payload).toEqual({ total: 5 });
    await refusalOf(() => readEnvelope(row({}, { eventData: {} }), PlaceOrder), 'INVALID_MESSAGE');
    await refusalOf(() => readEnvelope(row({ schemaVersion: 2 }), PlaceOrder), 'MESSAGE_TOO_NEW');
  });
});
