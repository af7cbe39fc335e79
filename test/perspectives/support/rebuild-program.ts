// An instance with perspectives as a process of its own, to be killed. In: the connection string as its argument.
import { createWhizbang } from '../../../src/index.js';
import { silentLogger } from '../../../src/logger.js';
import { ledger } from './builds.js';
import { orders } from './orders.js';

const shop = createWhizbang({
  service: 'shop',
  connectionString: process.argv[2] ?? '',
  perspectives: [orders, ledger],
  logger: silentLogger,
});
await shop.start();
process.send?.('started');
