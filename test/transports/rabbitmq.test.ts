import { withBroker } from '../support/brokers/broker.js';
import { rabbitmq } from '../support/brokers/rabbitmq.js';
import { describeTransport } from './conformance.js';
import { rabbitmqSubject } from './rabbitmq-services.js';

const lacking = {
  dropMiddleOf: 'a channel loses nothing in its middle, and one message of a stream is on its way at a time',
  locks:
    'a delivery is never taken back while its channel lives; consumer_timeout is tried in rabbitmq-node.test.ts',
  sizeLimit: 'the broker tells its limit to nobody; it is tried in rabbitmq-node.test.ts',
};

await withBroker(rabbitmq, ({ url }) => {
  describeTransport('rabbitmq', () => rabbitmqSubject(url), lacking, 'side by side');
});
