// Run as a process of its own by the crash tests of timers and schedules.
import { createClockwork } from './clockwork.js';

const instance = createClockwork(JSON.parse(process.argv[2] as string));
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL')); // the test is gone
await instance.start();
process.send?.('started');
