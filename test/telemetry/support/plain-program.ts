// A program without OpenTelemetry: it sends a message, handles it, and says whether it could load the API, and the trace it was in.
import { createWhizbang, receptor } from '../../../src/index.js';
import { OrderPlaced } from './shop.js';

const traceparent = await new Promise<string>((resolve, reject) => {
  const take = receptor(OrderPlaced, (_, { envelope }) => resolve(envelope.traceparent));
  const shop = createWhizbang({
    service: 'shop',
    connectionString: process.argv[2] ?? '',
    receptors: [take],
  });
  shop
    .start()
    .then(() => shop.publish(OrderPlaced({ orderId: 'order-1' })))
    .catch(reject);
});
const hasApi = await import('@opentelemetry/api').then(
  () => true,
  () => false,
);
console.log(JSON.stringify({ traceparent, hasApi }));
process.exit(0);
