// The trace that a message was sent in, as its metadata say it: W3C trace context, whatever propagator the program has set up.
// In: metadata that any program may have written. Out: a context of OpenTelemetry, or undefined; and back, as text.
import type { SpanContext } from '@opentelemetry/api';
import { parseTraceparent, readMetadata } from '../messages/index.js';
import type { Api } from './open-telemetry.js';

/** A message as far as its trace is concerned. */
export interface Traced {
  readonly messageId: string;
  readonly metadata: unknown;
  /** Whether it was tried before, or was with an instance that died. */
  readonly isRetry: boolean;
}

/** Undefined: the message was sent outside of any trace, for example by a plain insert. */
export function contextOf(api: Api, metadata: unknown): SpanContext | undefined {
  const { traceparent, tracestate } = readMetadata(metadata);
  const parsed = parseTraceparent(traceparent);
  if (parsed === undefined) return undefined;
  return {
    traceId: parsed.traceId,
    spanId: parsed.spanId,
    traceFlags: Number.parseInt(parsed.flags, 16),
    isRemote: true,
    ...(tracestate !== undefined && { traceState: api.createTraceState(tracestate) }),
  };
}

/** The fields of an envelope that continue a span. */
export function fieldsOf({ traceId, spanId, traceFlags, traceState }: SpanContext): {
  readonly traceparent: string;
  readonly tracestate: string | null;
} {
  const flags = (traceFlags & 0xff).toString(16).padStart(2, '0');
  return { traceparent: `00-${traceId}-${spanId}-${flags}`, tracestate: traceState?.serialize() || null };
}

/** Whether it was sent within this time: by its last hop, or else by its id, whose first digits are a time in UUIDs of version 7. */
export function isYoung({ messageId, metadata }: Traced, seconds: number): boolean {
  const sentAt = Date.parse(readMetadata(metadata).hops?.at(-1)?.at ?? '');
  const madeAt =
    messageId[14] === '7' ? Number.parseInt(messageId.replace('-', '').slice(0, 12), 16) : Number.NaN;
  const at = Number.isNaN(sentAt) ? madeAt : sentAt;
  return Number.isNaN(at) || Date.now() - at <= seconds * 1000;
}
