// Run as a process of its own by the test of the page: one instance of the shop. A message of its parent mends it.
import { createShop } from './shop-instance.js';

let isMended = false;
process.on('message', () => {
  isMended = true;
});
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL')); // the test is gone
await createShop(process.argv[2] as string, () => isMended).start();
process.send?.('started');
