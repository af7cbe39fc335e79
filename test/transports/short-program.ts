// Run as a process of its own: a service over a transport that stops again. Nothing may then keep the process alive.
import { z } from 'zod';
import { createWhizbang, defineEvent, receptor } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import type { Way } from '../journeys/plan.js';
import { transportOf } from '../journeys/transport-of.js';

const { connectionString, way } = JSON.parse(process.argv[2] as string) as {
  connectionString: string;
  way: Way;
};
const Rang = defineEvent('Rang', { schema: z.object({}) });
const bell = createWhizbang({
  service: 'bell',
  connectionString,
  transport: await transportOf(way),
  receptors: [receptor(Rang, () => {})],
  logger: silentLogger,
});
await bell.start();
const handled = new Promise((resolve) => bell.on('handled', resolve));
await bell.publish(Rang({}));
await handled;
await bell.stop();
console.log('stopped');

setTimeout(() => {
  console.log(`kept alive by ${process.getActiveResourcesInfo().join(', ')}`);
  process.exit(1);
}, 20_000).unref();
