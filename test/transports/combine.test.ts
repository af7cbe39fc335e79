import { describe, expect, it } from 'vitest';
import { WhizbangError } from '../../src/errors.js';
import {
  combine,
  type InProcessTransport,
  inProcessTransport,
  postgresTransport,
  type Transport,
} from '../../src/transports/index.js';
import { casesOf, runCase } from './conformance/trial.js';
import { describeTransport, sections } from './conformance.js';
import { inProcessHost, inProcessLacks, inProcessSubject } from './in-process-subject.js';
import type { TransportSubject } from './subject.js';
import { expectOrder, interleaved, message, stream, World } from './world.js';
import { changed } from './wrong-adapters/wrapping.js';

function combinedSubject(): TransportSubject {
  const [first, second] = [inProcessTransport(), inProcessTransport()];
  return inProcessSubject(second, combine(first, second));
}

describeTransport('in-process + in-process', async () => combinedSubject(), {
  ...inProcessLacks,
  deliveries: 'each of both delivers a message: the inbox takes it once',
  unreadableContent: 'it comes from one of both, which is tried alone',
  foreignEvents: 'they come from one of both, which is tried alone',
});

/** Cases that look only at what is stored in the end: there, a message that comes twice counts once. */
const judgedByTheInbox = Object.values(sections)
  .flatMap(casesOf)
  .filter(({ name }) =>
    [
      'instances that come and go break no order of a stream',
      'instances that crash under load lose nothing and break no order',
      'an instance that crashes leaves its messages to the next, before those that waited behind them',
      'an instance that starts while the transport is away sends and receives when it is back',
    ].includes(name),
  );

describe('in-process + in-process: what is stored in the end', () => {
  expect(judgedByTheInbox).toHaveLength(4);
  for (const each of judgedByTheInbox) {
    it(each.name, async () => {
      expect(await runCase(each, async () => combinedSubject(), {})).toEqual({ kind: 'passed' });
    });
  }
});

/** A transport that refuses commands to addresses that nobody listens to. */
function knowing(hub: InProcessTransport, heard: readonly string[]): Transport {
  const isUnheard = ({ address }: { address: string }) => !heard.includes(address);
  const error = new WhizbangError('NO_RECEIVER', { message: 'Nobody listens.' });
  const transport = changed(
    hub,
    (inner) => ({
      send: async (messages, signal) => {
        const failed = new Set<string | null>();
        const outcomes = [];
        for (const each of messages) {
          if (each.streamId !== null && failed.has(each.streamId))
            outcomes.push({ kind: 'held-back' } as const);
          else if (isUnheard(each)) {
            failed.add(each.streamId);
            outcomes.push({ kind: 'failed', error } as const);
          } else outcomes.push(...(await inner.send([each], signal)));
        }
        return outcomes;
      },
    }),
    { knowsReceivers: true },
  );
  return transport;
}

describe('Combined transports', () => {
  it('a command leaves by the transport that has a receiver for it, with all that follow in its stream', async () => {
    const [first, second] = [inProcessTransport(), inProcessTransport()];
    const transport = combine(knowing(first, ['billing']), knowing(second, ['orders']));
    await using world = new World(inProcessSubject(first, transport));
    const shop = await world.join('shop');
    await world.listen('orders');
    await world.listen('billing');
    const [orders, bills] = [stream('orders', 5), stream('billing', 5)];

    await shop.sendAll(...interleaved([orders, bills]));

    expectOrder(await world.untilStored('orders', orders), orders);
    expectOrder(await world.untilStored('billing', bills), bills);
  });

  it('a command that no transport has a receiver for fails, and holds back its stream only', async () => {
    const [first, second] = [inProcessTransport(), inProcessTransport()];
    const transport = combine(knowing(first, ['orders']), knowing(second, ['orders']));
    await using world = new World(inProcessSubject(first, transport));
    const shop = await world.join('shop');
    await world.listen('orders');
    const other = message('orders');

    const outcomes = await shop.send(...stream('nobody', 2), other);

    expect(transport.traits.knowsReceivers).toBe(true);
    expect(outcomes).toMatchObject([
      { kind: 'failed', error: { code: 'NO_RECEIVER' } },
      { kind: 'held-back' },
      { kind: 'sent' },
    ]);
    await world.untilStored('orders', [other]);
  });

  it('combined transports promise what the weakest of them promises', () => {
    const [first, second] = [inProcessTransport(), inProcessTransport()];
    const weak = changed(first, () => ({}), { moves: 'service', sent: 'disk', maxMessageBytes: 100 });
    const strong = changed(second, () => ({}), {
      sent: 'replicated',
      knowsReceivers: true,
      maxMessageBytes: 200,
    });

    expect(combine(weak, strong).traits).toEqual({
      moves: 'service',
      sent: 'disk',
      knowsReceivers: false,
      maxMessageBytes: 100,
    });
    expect(combine(postgresTransport(), strong).name).toBe('wrong + postgres');
  });

  it('combining what cannot be combined is refused with a hint', () => {
    const hub = inProcessTransport();
    const invalid = (message: RegExp) =>
      expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringMatching(message) });

    expect(() => combine(postgresTransport(), postgresTransport())).toThrow(invalid(/2 of its transports/));
    expect(() => combine(hub, hub)).toThrow(invalid(/given twice/));
    expect(() => combine(hub, undefined as never)).toThrow(invalid(/argument 2 is not a transport/));
    expect(() => combine({ url: 'amqp://localhost' } as never)).toThrow(
      invalid(/argument 1 is not a transport/),
    );
  });

  it('combined transports tell that they cannot send as long as one of them cannot', async () => {
    const [first, second] = [inProcessTransport(), inProcessTransport()];
    const states: boolean[] = [];
    const connection = await combine(first, second).connect(
      inProcessHost('shop', ({ sending }) => states.push(sending)),
    );

    first.goAway();
    second.goAway();
    first.comeBack();
    expect(states.at(-1)).toBe(false);
    second.comeBack();

    expect(states.at(-1)).toBe(true);
    await connection.close();
  });

  it('a connection of combined transports is not opened when one of them refuses', async () => {
    const hub = inProcessTransport();
    let isClosed = false;
    const opened = changed(hub, (inner) => ({
      close: async () => {
        isClosed = true;
        await inner.close();
      },
    }));
    const refusing = { ...inProcessTransport(), connect: () => Promise.reject(new Error('wrong password')) };

    await expect(combine(opened, refusing).connect(inProcessHost('shop'))).rejects.toThrow('wrong password');
    expect(isClosed).toBe(true);
  });
});
