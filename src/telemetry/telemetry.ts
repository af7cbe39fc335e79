// The telemetry of an instance, as its parts know it: spans and metrics, when somebody listens, and nothing otherwise.
// In: what the parts do, as functions to run, and facts about it. Out: the same results. It never changes an outcome.
// Its types name nothing of OpenTelemetry: a program without it compiles against ours.
import type { WorkBatch, WorkItem } from '../message.js';
import { errorTypeOf, names, systemOf } from './attributes.js';
import { countDuplicates, type Offered } from './duplicates.js';
import type {
  CreatedMessage,
  FollowedEvent,
  InvokedCommand,
  Observe,
  ProcessedTask,
  SentOutcome,
} from './facts.js';
import { Metrics } from './metrics.js';
import { loadApi } from './open-telemetry.js';
import type { ResolvedTelemetry } from './telemetry-options.js';
import { Traces } from './traces.js';

interface Facts {
  readonly service: string;
  readonly instanceId: string;
  /** The name of the transport. */
  readonly transport: string;
}

interface TraceFields {
  readonly traceparent: string;
  readonly tracestate: string | null;
}

export class Telemetry {
  readonly #service: string;
  readonly #system: string;
  #traces: Traces | undefined;
  #metrics: Metrics | undefined;
  #observe: Observe | undefined;
  /** Resolves when it is known whether there is OpenTelemetry. Undefined: it is known. */
  loading: Promise<void> | undefined;

  /** `options`: undefined, it is off. */
  constructor(options: ResolvedTelemetry | undefined, { service, instanceId, transport }: Facts) {
    this.#service = service;
    this.#system = systemOf(transport);
    if (options === undefined) return;
    this.loading = loadApi().then((api) => {
      this.loading = undefined;
      if (api === undefined) return;
      this.#traces = new Traces(api, { service, instanceId, system: this.#system, ...options });
      this.#metrics = new Metrics(api, () => this.#beginAtZero());
      if (this.#observe !== undefined) this.#metrics.observe(this.#observe);
    });
  }

  /** Whether somebody collects metrics. */
  get isMetered(): boolean {
    return this.#metrics?.isHeard === true;
  }

  /**
   * A message was made. Returns what continues the span of that; undefined where there is none. `given`: the trace that it is sent
   * in is named by the user, and has no span of ours. `parent`: the message that is being handled.
   */
  create(
    message: CreatedMessage,
    destination: string,
    parent: unknown,
    given?: string,
  ): TraceFields | undefined {
    if (this.isMetered)
      this.#metrics?.add('created', 1, { [names.destination]: destination, [names.service]: this.#service });
    const tracer = given === undefined ? this.#traces?.tracer : undefined;
    return tracer === undefined ? undefined : this.#traces?.create(tracer, message, destination, parent);
  }

  /** What continues the active span. Undefined: none is active. */
  active(): TraceFields | undefined {
    return this.#traces?.tracer === undefined ? undefined : this.#traces.active();
  }

  /** Gives a batch to the transport. */
  async send<Outcome extends SentOutcome>(
    items: readonly WorkItem[],
    run: () => Promise<readonly Outcome[]>,
  ): Promise<readonly Outcome[]> {
    const tracer = this.#traces?.tracer;
    const traces = this.#traces;
    const traced = tracer === undefined || traces === undefined ? run : () => traces.send(tracer, items, run);
    if (!this.isMetered) return traced();
    const common = { ...this.#common('send'), [names.service]: this.#service };
    const outcomes = await this.#timed('operationDuration', common, traced);
    for (const [i, { destination }] of items.entries()) {
      const { kind, error } = outcomes[i] ?? { kind: 'held-back' };
      if (kind === 'held-back') continue; // it is sent later, and counted then
      const failed = kind === 'failed' && { [names.errorType]: errorTypeOf(error) };
      this.#metrics?.add('sent', 1, { ...common, [names.destination]: destination, ...failed });
    }
    return outcomes;
  }

  /** Runs a receptor. */
  process<T>(task: ProcessedTask, run: () => Promise<T>): Promise<T> {
    const tracer = this.#traces?.tracer;
    const traces = this.#traces;
    const traced =
      tracer === undefined || traces === undefined ? run : () => traces.process(tracer, task, run);
    if (!this.isMetered) return traced();
    const { item, items = [item], receptor } = task;
    const common = {
      ...this.#common('process'),
      [names.destination]: item.destination,
      [names.service]: this.#service,
    };
    const consumed = (failed: object) =>
      this.#metrics?.add('consumed', items.length, { ...common, ...failed });
    return this.#timed('processDuration', { ...common, [names.receptor]: receptor.name }, traced, consumed);
  }

  /** Applies a batch of events to a perspective. */
  follow<T>(perspective: string, events: readonly FollowedEvent[], run: () => Promise<T>): Promise<T> {
    if (events.length === 0) return run();
    const tracer = this.#traces?.tracer;
    const traces = this.#traces;
    const traced =
      tracer === undefined || traces === undefined
        ? run
        : () => traces.follow(tracer, perspective, events, run);
    if (!this.isMetered) return traced();
    const common = { ...this.#common('process'), [names.service]: this.#service };
    return this.#timed('processDuration', { ...common, [names.perspective]: perspective }, traced);
  }

  /** Runs a receptor at once, for a caller in this process. */
  invoke<T>(command: InvokedCommand, run: () => Promise<T>): Promise<T> {
    const tracer = this.#traces?.tracer;
    return tracer === undefined || this.#traces === undefined
      ? run()
      : this.#traces.invoke(tracer, command, run);
  }

  /** Stores the models of an inline perspective. `events`: how many it applies. */
  storeInline<T>(perspective: string, events: number, run: () => Promise<T>): Promise<T> {
    const tracer = this.#traces?.tracer;
    return tracer === undefined || this.#traces === undefined
      ? run()
      : this.#traces.storeInline(tracer, perspective, events, run);
  }

  /** Makes a call of `process_work_batch`. It carries the work of many, and is a part of no trace. */
  async call(offered: Offered, run: () => Promise<WorkBatch>): Promise<WorkBatch> {
    if (!this.isMetered) return this.outside(run);
    const ofService = { [names.service]: this.#service };
    const batch = await this.#timed('callDuration', ofService, () => this.outside(run));
    for (const [lane, { length }] of [
      ['outbox', batch.outbox],
      ['inbox', batch.inbox],
      ['perspective', batch.perspectives],
    ] as const) {
      if (length > 0) this.#metrics?.add('callRows', length, { ...ofService, [names.lane]: lane });
    }
    for (const [lane, count] of Object.entries(countDuplicates(offered, batch))) {
      if (count > 0) this.#metrics?.add('duplicates', count, { ...ofService, [names.lane]: lane });
    }
    return batch;
  }

  /** An attempt has failed. */
  failed(key: 'retries' | 'givenUp', attempt: { source: string; type: string; error: unknown }): void {
    this.#metrics?.add(key, 1, {
      [names.service]: this.#service,
      [names.lane]: attempt.source,
      [names.type]: attempt.type,
      [names.errorType]: errorTypeOf(attempt.error),
    });
  }

  lostLeases(lane: string, count: number): void {
    this.#metrics?.add('lostLeases', count, { [names.service]: this.#service, [names.lane]: lane });
  }

  /** For the watch over the order of streams. */
  orderViolated(lane: string): void {
    this.#metrics?.add('orderViolations', 1, { [names.service]: this.#service, [names.lane]: lane });
  }

  /** Observes gauges from now on, whenever somebody collects them. Undefined: no longer. */
  observe(observe: Observe | undefined): void {
    this.#observe = observe;
    this.#metrics?.observe(observe);
  }

  /** Runs the work in no trace, wherever it is called. */
  outside<T>(work: () => T): T {
    return this.#traces?.tracer === undefined ? work() : this.#traces.outside(work);
  }

  /** The ids of the active trace and span, for logs. */
  ids(): { readonly traceId?: string; readonly spanId?: string } {
    return this.#traces?.tracer === undefined ? {} : this.#traces.ids();
  }

  /** What seldom happens is there before it does: whoever watches it sees the first time, too. */
  #beginAtZero(): void {
    for (const lane of ['outbox', 'inbox']) {
      const ofLane = { [names.service]: this.#service, [names.lane]: lane };
      this.#metrics?.add('lostLeases', 0, ofLane);
      this.#metrics?.add('orderViolations', 0, ofLane);
      this.#metrics?.add('duplicates', 0, ofLane);
    }
  }

  #common(operation: string) {
    return { [names.system]: this.#system, [names.operation]: operation };
  }

  async #timed<T>(
    key: 'operationDuration' | 'processDuration' | 'callDuration',
    attributes: Readonly<Record<string, string>>,
    run: () => Promise<T>,
    onEnd: (failed: object) => void = () => {},
  ): Promise<T> {
    const begunAt = performance.now();
    let failed = {};
    try {
      return await run();
    } catch (error) {
      failed = { [names.errorType]: errorTypeOf(error) };
      throw error;
    } finally {
      this.#metrics?.record(key, (performance.now() - begunAt) / 1000, { ...attributes, ...failed });
      onEnd(failed);
    }
  }
}
