// Counts and durations, as instruments of OpenTelemetry. They are made when a meter is found, and made anew when it is another.
// In: a key of the table, a number, attributes without ids. Out: records of the SDK; nothing where there is none.
import type { Attributes, Counter, Histogram, ObservableGauge } from '@opentelemetry/api';
import type { Observe } from './facts.js';
import { type CounterKey, type GaugeKey, type HistogramKey, keysOf, metricTable } from './metric-table.js';
import { type Api, type Meter, MeterFinder } from './open-telemetry.js';

/** Seconds, as the conventions advise. */
const bounds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

interface Instruments {
  readonly counters: Readonly<Record<CounterKey, Counter>>;
  readonly histograms: Readonly<Record<HistogramKey, Histogram>>;
}

type Gauges = Readonly<Record<GaugeKey, ObservableGauge>>;

export class Metrics {
  readonly #finder: MeterFinder;
  readonly #onMeter: () => void;
  #meter: Meter | undefined;
  #instruments: Instruments | undefined;
  #observe: Observe | undefined;
  #stopObserving: () => void = () => {};

  /** `onMeter`: called when somebody begins to listen. */
  constructor(api: Api, onMeter: () => void) {
    this.#finder = new MeterFinder(api);
    this.#onMeter = onMeter;
  }

  /** Whether anybody listens. */
  get isHeard(): boolean {
    return this.#found() !== undefined;
  }

  add(key: CounterKey, count: number, attributes: Attributes): void {
    this.#found()?.counters[key].add(count, attributes);
  }

  record(key: HistogramKey, seconds: number, attributes: Attributes): void {
    this.#found()?.histograms[key].record(seconds, attributes);
  }

  /** Begins to observe the gauges, with whatever meter is there then. Undefined: ends it. */
  observe(observe: Observe | undefined): void {
    this.#observe = observe;
    this.#observeWith(this.#meter);
    this.#found();
  }

  #found(): Instruments | undefined {
    const meter = this.#finder.find();
    if (meter === this.#meter) return this.#instruments;
    this.#meter = meter;
    this.#instruments = meter === undefined ? undefined : instrumentsOf(meter);
    this.#observeWith(meter);
    if (meter !== undefined) this.#onMeter();
    return this.#instruments;
  }

  #observeWith(meter: Meter | undefined): void {
    this.#stopObserving();
    this.#stopObserving = () => {};
    const observe = this.#observe;
    if (meter === undefined || observe === undefined) return;
    const gauges = gaugesOf(meter);
    const all = Object.values(gauges);
    const callback: Parameters<Meter['addBatchObservableCallback']>[0] = (result) =>
      observe((key, value, attributes) => result.observe(gauges[key], value, attributes));
    meter.addBatchObservableCallback(callback, all);
    this.#stopObserving = () => meter.removeBatchObservableCallback(callback, all);
  }
}

function instrumentsOf(meter: Meter): Instruments {
  const counters = keysOf('counter').map((key) => {
    const { name, ...facts } = metricTable[key];
    return [key, meter.createCounter(name, facts)] as const;
  });
  const advice = { explicitBucketBoundaries: bounds };
  const histograms = keysOf('histogram').map((key) => {
    const { name, ...facts } = metricTable[key];
    return [key, meter.createHistogram(name, { ...facts, advice })] as const;
  });
  return {
    counters: Object.fromEntries(counters) as Instruments['counters'],
    histograms: Object.fromEntries(histograms) as Instruments['histograms'],
  };
}

function gaugesOf(meter: Meter): Gauges {
  const gauges = keysOf('gauge').map((key) => {
    const { name, ...facts } = metricTable[key];
    return [key, meter.createObservableGauge(name, facts)] as const;
  });
  return Object.fromEntries(gauges) as unknown as Gauges;
}
