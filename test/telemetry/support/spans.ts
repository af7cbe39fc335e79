// A span as tests compare it: plain, and small enough for a message between processes.
import type { ReadableSpan } from '@opentelemetry/sdk-trace-node';

export interface PlainSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | undefined;
  /** The spans that it is linked to. */
  readonly links: readonly string[];
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly hasFailed: boolean;
}

export function plainSpan(span: ReadableSpan): PlainSpan {
  const { traceId, spanId } = span.spanContext();
  return {
    name: span.name,
    kind: span.kind,
    traceId,
    spanId,
    parentId: span.parentSpanContext?.spanId,
    links: span.links.map(({ context }) => context.spanId),
    attributes: { ...span.attributes },
    hasFailed: span.status.code === 2,
  };
}
