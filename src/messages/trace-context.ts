// W3C trace context (https://www.w3.org/TR/trace-context/): what ties a message to the trace it was sent in.
import { randomFillSync } from 'node:crypto';

interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  /** Two hexadecimal digits. The lowest bit is set when the sender records the trace. */
  readonly flags: string;
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/**
 * Parses a traceparent; undefined when it is not valid. Of a later version, only the part that this version
 * defines is read.
 */
export function parseTraceparent(value: unknown): TraceContext | undefined {
  const parts = typeof value === 'string' ? form.exec(value) : null;
  if (parts === null) return undefined;
  const [, version = '', traceId = '', spanId = '', flags = '', rest] = parts;
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (isZero(traceId) || isZero(spanId)) return undefined;
  return { traceId, spanId, flags };
}

/** The id of the trace that a message was sent in. Undefined: it has none. */
export function traceIdOf(metadata: unknown): string | undefined {
  return parseTraceparent((metadata as { traceparent?: unknown } | null | undefined)?.traceparent)?.traceId;
}

/**
 * A new traceparent, marked as recorded. Otherwise a sender without tracing would disable the traces of its
 * receivers.
 */
export function newTraceparent(): string {
  return formatTraceparent({ traceId: randomHex(16), spanId: randomHex(8), flags: '01' });
}

/** The traceparent of the next step of the same trace. When the parent is not valid, a new trace begins. */
export function childTraceparent(parent: string): string {
  const context = parseTraceparent(parent);
  return context === undefined ? newTraceparent() : formatTraceparent({ ...context, spanId: randomHex(8) });
}

function formatTraceparent({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-${flags}`;
}

const random = Buffer.alloc(4096);
let used = random.length;

/**
 * Random hex digits from a pool: a call to the kernel for each id would cost more than the rest of the
 * envelope.
 */
function randomHex(bytes: number): string {
  if (used + bytes > random.length) {
    randomFillSync(random);
    used = 0;
  }
  const hex = random.toString('hex', used, used + bytes);
  used += bytes;
  return isZero(hex) ? randomHex(bytes) : hex;
}

function isZero(hex: string): boolean {
  return /^0+$/.test(hex);
}
