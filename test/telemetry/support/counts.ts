// The counters of this process, as the real SDK has them: from now on, until it is disposed.
import { metrics } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';

interface Counts extends Disposable {
  /** What a counter has by now, by lane. */
  byLane(name: string): Promise<Record<string, number>>;
}

export function startCounting(): Counts {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
  return {
    byLane: async (name) => {
      exporter.reset();
      await reader.forceFlush();
      const scopes = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
      const counts: Record<string, number> = {};
      for (const { descriptor, dataPoints } of scopes.flatMap((scope) => scope.metrics)) {
        if (descriptor.name !== name) continue;
        for (const { attributes, value } of dataPoints)
          counts[String(attributes['whizbang.lane'])] = value as number;
      }
      return counts;
    },
    [Symbol.dispose]: () => metrics.disable(),
  };
}
