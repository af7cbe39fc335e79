// Spans: one trace from whoever sends to the last receptor and perspective, over the borders of processes.
// In: messages that are made, sent to a transport, handled, followed by a perspective. Out: spans of OpenTelemetry.
// A message that is young and new continues the trace that it was sent in, and is linked to it. One that is old or is tried again
// is only linked: a trace must not last for days. So it is with a batch, where all of its messages are of one trace.
import type { Attributes, Context, Link, Span, SpanContext } from '@opentelemetry/api';
import { WorkBatchFlags, type WorkItem } from '../message.js';
import { errorTypeOf, names } from './attributes.js';
import type { CreatedMessage, FollowedEvent, InvokedCommand, ProcessedTask, SentOutcome } from './facts.js';
import { contextOf, fieldsOf, isYoung, type Traced } from './message-context.js';
import { type Api, type Tracer, TracerFinder } from './open-telemetry.js';

interface TracesOptions {
  readonly service: string;
  readonly instanceId: string;
  readonly system: string;
  readonly continueSeconds: number;
}

/** The links of one span at most: an SDK drops what is beyond 128. */
const mostLinks = 100;

export class Traces {
  readonly #api: Api;
  readonly #options: TracesOptions;
  readonly #finder: TracerFinder;

  constructor(api: Api, options: TracesOptions) {
    this.#api = api;
    this.#options = options;
    this.#finder = new TracerFinder(api);
  }

  get tracer(): Tracer | undefined {
    return this.#finder.find();
  }

  /** Makes the span of a new message, and returns what continues it. `parent`: metadata of the message that is being handled. */
  create(tracer: Tracer, message: CreatedMessage, destination: string, parent: unknown) {
    const attributes: Attributes = {
      ...this.#common('create', 'create'),
      [names.destination]: destination,
      [names.messageId]: message.messageId,
      [names.conversationId]: message.correlationId,
      [names.type]: message.type,
      ...(message.streamId !== null && { [names.streamId]: message.streamId }),
    };
    const kind = this.#api.SpanKind.PRODUCER;
    const span = tracer.startSpan(`create ${message.type}`, { kind, attributes }, this.#around(parent));
    span.end();
    return this.#fields(span.spanContext());
  }

  /** What continues the span that is active here. Undefined: none is. */
  active() {
    const context = this.#api.trace.getSpanContext(this.#api.context.active());
    return context === undefined ? undefined : this.#fields(context);
  }

  send<Outcome extends SentOutcome>(
    tracer: Tracer,
    items: readonly WorkItem[],
    run: () => Promise<readonly Outcome[]>,
  ): Promise<readonly Outcome[]> {
    const [first] = items;
    const isOne = items.every(({ destination }) => destination === first?.destination);
    const attributes: Attributes = {
      ...this.#common('send', 'send'),
      [names.batchCount]: items.length,
      ...(isOne && { [names.destination]: first?.destination }),
      ...(items.length === 1 && first !== undefined && { [names.messageId]: first.messageId }),
    };
    const name = isOne && first !== undefined ? `send ${first.destination}` : 'send';
    const span = this.#start(tracer, name, this.#api.SpanKind.CLIENT, attributes, items.map(tracedItem));
    return this.#within(span, async () => {
      const outcomes = await run();
      const failed = outcomes.find(({ kind }) => kind === 'failed');
      if (failed !== undefined) this.#fail(span, failed.error);
      return outcomes;
    });
  }

  process<T>(tracer: Tracer, task: ProcessedTask, run: () => Promise<T>): Promise<T> {
    const { item, items = [item], envelope, receptor, attempt } = task;
    const attributes: Attributes = {
      ...this.#common('process', 'process'),
      [names.destination]: item.destination,
      [names.group]: this.#options.service,
      [names.partition]: String(item.partitionNumber),
      [names.type]: envelope.type,
      [names.receptor]: receptor.name,
      [names.attempt]: attempt,
      ...(items.length > 1
        ? { [names.batchCount]: items.length }
        : { [names.messageId]: item.messageId, [names.conversationId]: envelope.correlationId }),
      ...(items.length === 1 && item.streamId !== null && { [names.streamId]: item.streamId }),
    };
    const kind = this.#api.SpanKind.CONSUMER;
    const traced = items.map(tracedItem);
    const isRetry = attempt > 1;
    const all = isRetry ? traced.map((each) => ({ ...each, isRetry })) : traced;
    const span = this.#start(tracer, `process ${envelope.type}`, kind, attributes, all);
    return this.#within(span, run);
  }

  follow<T>(
    tracer: Tracer,
    perspective: string,
    events: readonly FollowedEvent[],
    run: () => Promise<T>,
  ): Promise<T> {
    const attributes: Attributes = {
      ...this.#common('process', 'process'),
      [names.group]: this.#options.service,
      [names.perspective]: perspective,
      [names.batchCount]: events.length,
    };
    const kind = this.#api.SpanKind.CONSUMER;
    const traced = events.map(({ event_id, metadata }) => ({
      messageId: event_id,
      metadata,
      isRetry: false,
    }));
    return this.#within(this.#start(tracer, `process ${perspective}`, kind, attributes, traced), run);
  }

  /** A receptor that runs at once: a part of what its caller does. */
  invoke<T>(tracer: Tracer, { envelope, receptor }: InvokedCommand, run: () => Promise<T>): Promise<T> {
    return this.#inside(tracer, `invoke ${envelope.type}`, run, {
      [names.type]: envelope.type,
      [names.receptor]: receptor.name,
      [names.messageId]: envelope.messageId,
      [names.conversationId]: envelope.correlationId,
    });
  }

  /** Models that are stored with their events: a part of what appends these. */
  storeInline<T>(tracer: Tracer, perspective: string, events: number, run: () => Promise<T>): Promise<T> {
    return this.#inside(tracer, `process ${perspective}`, run, {
      [names.perspective]: perspective,
      [names.batchCount]: events,
    });
  }

  /** Runs the work in no trace, wherever it is called: it is nobody's, and may go on for as long as the process does. */
  outside<T>(work: () => T): T {
    return this.#api.context.with(this.#api.ROOT_CONTEXT, work);
  }

  /** The ids of the trace and the span that are active here. */
  ids(): { readonly traceId?: string; readonly spanId?: string } {
    const context = this.#api.trace.getSpanContext(this.#api.context.active());
    return context === undefined ? {} : { traceId: context.traceId, spanId: context.spanId };
  }

  #inside<T>(tracer: Tracer, name: string, run: () => Promise<T>, attributes: Attributes): Promise<T> {
    const { service, instanceId } = this.#options;
    const all = { [names.service]: service, [names.instanceId]: instanceId, ...attributes };
    const span = tracer.startSpan(name, { kind: this.#api.SpanKind.INTERNAL, attributes: all });
    return this.#within(span, run, this.#api.context.active());
  }

  #common(operation: string, type: string): Attributes {
    const { system, instanceId, service } = this.#options;
    return {
      [names.system]: system,
      [names.operation]: operation,
      [names.operationType]: type,
      [names.service]: service,
      [names.instanceId]: instanceId,
    };
  }

  #start(
    tracer: Tracer,
    name: string,
    kind: number,
    attributes: Attributes,
    traced: readonly Traced[],
  ): Span {
    const contexts = traced.map(({ metadata }) => contextOf(this.#api, metadata));
    const known = contexts.filter((context) => context !== undefined);
    const links: Link[] = known.slice(-mostLinks).map((context) => ({ context }));
    const isContinued =
      known.length === traced.length &&
      known.every(({ traceId }) => traceId === known[0]?.traceId) &&
      traced.every((each) => !each.isRetry && isYoung(each, this.#options.continueSeconds));
    const parent = isContinued ? this.#inContext(known.at(-1)) : this.#api.ROOT_CONTEXT;
    return tracer.startSpan(name, { kind, attributes, links }, parent);
  }

  async #within<T>(span: Span, run: () => Promise<T>, context = this.#api.ROOT_CONTEXT): Promise<T> {
    try {
      return await this.#api.context.with(this.#api.trace.setSpan(context, span), run);
    } catch (error) {
      this.#fail(span, error);
      throw error;
    } finally {
      span.end();
    }
  }

  #fail(span: Span, error: unknown): void {
    span.setAttribute(names.errorType, errorTypeOf(error));
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof Error) span.recordException(error);
    span.setStatus({ code: this.#api.SpanStatusCode.ERROR, message });
  }

  /** The active context; where no span is active, that of the message that is being handled. */
  #around(parent: unknown): Context {
    const active = this.#api.context.active();
    if (this.#api.trace.getSpanContext(active) !== undefined || parent === undefined) return active;
    return this.#inContext(contextOf(this.#api, parent));
  }

  #inContext(context: SpanContext | undefined): Context {
    const { trace, ROOT_CONTEXT } = this.#api;
    return context === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, context);
  }

  #fields(context: SpanContext) {
    return this.#api.isSpanContextValid(context) ? fieldsOf(context) : undefined;
  }
}

function tracedItem({ messageId, metadata, attempts, flags }: WorkItem): Traced {
  return { messageId, metadata, isRetry: attempts > 0 || (flags & WorkBatchFlags.Orphaned) !== 0 };
}
