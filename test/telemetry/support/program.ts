// A service as a process of its own, with the real SDK of OpenTelemetry: its spans go to who started it, its metrics to whoever asks
// the Prometheus endpoint. In: a plan as JSON; orders to place, as messages. Out: where its endpoint is, and its spans, as messages.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { metrics, trace } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { NodeTracerProvider, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
import { createWhizbang, postgresTransport } from '../../../src/index.js';
import { silentLogger } from '../../../src/logger.js';
import { book, bookings, OrderPlaced } from './shop.js';
import { plainSpan } from './spans.js';

interface Plan {
  readonly service: string;
  readonly connectionString: string;
  /** The ledger, when it is in another database. */
  readonly ledger?: string;
  readonly books: boolean;
}

const plan = JSON.parse(process.argv[2] ?? '{}') as Plan;
const tell = (told: object) => process.send?.(told);
const exporter = {
  export: (spans: ReadableSpan[], done: (result: { code: number }) => void) => {
    for (const span of spans) tell({ span: plainSpan(span) });
    done({ code: 0 });
  },
  shutdown: async () => {},
};
new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }).register();
const prometheus = new PrometheusExporter({ preventServerStart: true });
metrics.setGlobalMeterProvider(new MeterProvider({ readers: [prometheus] }));
const endpoint = createServer((request, response) => prometheus.getMetricsRequestHandler(request, response));
await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve));

const { service, connectionString, ledger, books } = plan;
const shop = createWhizbang({
  service,
  connectionString,
  logger: silentLogger,
  staleThresholdSeconds: 2,
  leaseSeconds: 4,
  renewSeconds: 1,
  ...(ledger !== undefined && {
    transport: postgresTransport({ databases: { ledger: { connectionString: ledger } } }),
  }),
  ...(books && { receptors: [book], perspectives: [bookings] }),
});
await shop.start();
process.on('message', ({ orderId, failures }: { orderId: string; failures?: number }) => {
  void trace.getTracer('web').startActiveSpan('POST /orders', async (span) => {
    await shop.publish(OrderPlaced({ orderId, failures: failures ?? 0 }));
    span.end();
  });
});
const { port } = endpoint.address() as AddressInfo;
tell({ endpoint: `http://127.0.0.1:${port}/metrics`, instanceId: shop.coordinator.instance.instanceId });
