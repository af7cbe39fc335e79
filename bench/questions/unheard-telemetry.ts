// What telemetry costs a message while nobody listens: the API of OpenTelemetry is loaded, and there is no SDK. No database is asked.
// The bar for a thousand messages: one hundredth of the 100 ms that they cost a whole service.
import type { WorkItem } from '../../src/message.js';
import { resolveTelemetry, Telemetry } from '../../src/telemetry/index.js';
import { median, spread } from '../measure/statistics.js';
import type { Question } from '../question.js';

const facts = { service: 'shop', instanceId: 'instance', transport: 'postgres' };
const message = { messageId: 'a', type: 'OrderPlaced', streamId: null, correlationId: 'a' };
const item = { messageId: 'a', destination: 'OrderPlaced', metadata: {}, attempts: 0, flags: 0 } as WorkItem;
const task = { item, envelope: message, receptor: { name: 'book' }, attempt: 1 };

export const unheardTelemetry: Question = {
  name: 'unheard-telemetry',
  asks: 'telemetry while nobody listens',
  async run(context) {
    const telemetry = new Telemetry(resolveTelemetry(true), facts);
    const off = new Telemetry(undefined, facts);
    await telemetry.loading;
    const count = context.size(200_000, 1_000);
    const costs: number[] = [];
    for (let i = 0; i < context.size(11, 2); i++) {
      const without = await perThousand(off, count);
      costs.push((await perThousand(telemetry, count)) - without);
    }
    return [
      {
        setting: 'a thousand messages made, sent and handled: more than with telemetry: false',
        value: median(costs),
        unit: 'ms',
        spread: spread(costs),
        bar: { kind: 'at-most', value: 1 },
        info: `${count} messages in each of ${costs.length} rounds, in turns`,
      },
    ];
  },
};

async function perThousand(telemetry: Telemetry, count: number): Promise<number> {
  const items = [item];
  const begunAt = performance.now();
  for (let i = 0; i < count; i++) {
    telemetry.create(message, 'OrderPlaced', undefined);
    await telemetry.send(items, async () => []);
    await telemetry.process(task, async () => undefined);
  }
  return ((performance.now() - begunAt) / count) * 1000;
}
