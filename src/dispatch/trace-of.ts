// The trace of a message that is sent: that of the call, of the active span, or of the message that is being handled.
// In: who sends, and what the call asks for. Out: the trace context of the envelope. Called where envelopes are made.
import { childTraceparent, type Envelope, newTraceparent, parseTraceparent } from '../messages/index.js';

/** What continues a step of a trace. */
type TraceFields = Pick<Envelope, 'traceparent' | 'tracestate'>;

/** Makes the steps of traces. Without it, traces are continued and nothing is recorded. */
export interface SendingTraces {
  /** Resolves when it is known whether anybody records. Undefined: it is known. */
  readonly loading: Promise<void> | undefined;
  /** Records that a message was made. `given`: the trace that the call names, which is passed on as it is. */
  create(
    message: Pick<Envelope, 'messageId' | 'type' | 'streamId' | 'correlationId'>,
    destination: string,
    parent: Envelope | undefined,
    given: string | undefined,
  ): TraceFields | undefined;
  /** Returns what continues the active step, if there is one. */
  active(): TraceFields | undefined;
}

interface TracedSender {
  readonly traceContext?: (() => string | undefined) | undefined;
  readonly traces?: SendingTraces | undefined;
}

/**
 * Chooses the trace. What the call or `traceContext` names is passed on unchanged. Otherwise the
 * active span is continued, or the parent's trace by one step, or a new one begins.
 */
export function traceOf(
  { traceContext, traces }: TracedSender,
  parent: Envelope | undefined,
  { traceparent }: { readonly traceparent?: string | undefined },
  about: Pick<Envelope, 'messageId' | 'type' | 'streamId' | 'correlationId'>,
  destination: string | undefined,
): TraceFields {
  const active = traceparent ?? validOrNothing(traceContext?.());
  const made =
    destination === undefined ? traces?.active() : traces?.create(about, destination, parent, active);
  if (active === undefined && made !== undefined) return made;
  const inherited = parent === undefined ? undefined : childTraceparent(parent.traceparent);
  const chosen = active ?? inherited ?? newTraceparent();
  if (parent === undefined) return { traceparent: chosen, tracestate: null };
  const sameTrace = parseTraceparent(chosen)?.traceId === parseTraceparent(parent.traceparent)?.traceId;
  return { traceparent: chosen, tracestate: sameTrace ? parent.tracestate : null };
}

/**
 * Ignores an invalid value of a tracing library: the sender has
 * not caused it, and a message is also sent without a trace.
 */
function validOrNothing(traceparent: string | undefined): string | undefined {
  return parseTraceparent(traceparent) === undefined ? undefined : traceparent;
}
