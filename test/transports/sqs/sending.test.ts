import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { toWire } from '../../../src/transports/sqs/wire.js';
import { expectOrder, interleaved, message, never, stream, World } from '../world.js';
import { type AwsNetwork, failingEntries, snsRefusal, startAwsNetwork } from './aws-network.js';
import { freshTopic, host, makeSqsSubject, standInUrl, transportAt } from './sqs-subject.js';

/** A world with `orders`, and an instance that sends over this network. */
async function sender() {
  const subject = await makeSqsSubject();
  const world = new World(subject);
  await world.listen('orders');
  const shop = await world.join('shop');
  return { world, shop, network: subject.networks.at(-1) as AwsNetwork };
}

/** The message groups of each batch that was published. */
function watchBatches(network: AwsNetwork): string[][] {
  const batches: string[][] = [];
  network.intercept = ({ action, body }) => {
    if (action === 'PublishBatch')
      batches.push(
        [...new URLSearchParams(body)].flatMap(([key, value]) =>
          key.endsWith('.MessageGroupId') ? value : [],
        ),
      );
    return undefined;
  };
  return batches;
}

describe('Sending through SNS', () => {
  it('no batch has more than ten messages or two of a stream', async () => {
    const { world, shop, network } = await sender();
    await using _ = world;
    const batches = watchBatches(network);
    const messages = [
      ...interleaved(Array.from({ length: 25 }, () => stream('orders', 3))),
      message('orders'),
    ];

    await shop.sendAll(...messages);

    expect(batches.map(({ length }) => length).toSorted()).toEqual(
      [10, 10, 10, 10, 10, 10, 5, 5, 6].toSorted(),
    );
    for (const groups of batches) expect(new Set(groups).size).toBe(groups.length);
    expectOrder(await world.untilStored('orders', messages), messages);
  });

  it('no batch is larger than one message may be', async () => {
    const { world, shop, network } = await sender();
    await using _ = world;
    const batches = watchBatches(network);
    const messages = Array.from({ length: 6 }, () => message('orders', { payload: 'x'.repeat(100_000) }));

    await shop.sendAll(...messages);

    expect(batches.map(({ length }) => length)).toEqual([2, 2, 2]);
    await world.untilStored('orders', messages);
  });

  it('a message that SNS fails to take by its own fault is sent again before the next of its stream', async () => {
    const { world, shop, network } = await sender();
    await using _ = world;
    const messages = interleaved([stream('orders', 4), stream('orders', 4)]);
    let failures = 2;
    network.intercept = failingEntries((id) => id === messages[2]?.messageId && failures-- > 0, false);

    await shop.sendAll(...messages);

    expect(failures).toBeLessThan(1);
    expectOrder(await world.untilStored('orders', messages), messages);
  });

  it('a message that SNS never takes by its own fault leaves the call unanswered, and the order whole', async () => {
    const { world, shop, network } = await sender();
    await using _ = world;
    const messages = interleaved([stream('orders', 4), stream('orders', 4)]);
    network.intercept = failingEntries((id) => id === messages[2]?.messageId, false);

    await expect(shop.send(...messages)).rejects.toMatchObject({ code: 'TRANSPORT_UNAVAILABLE' });
    network.intercept = undefined;
    await shop.connection.ready(never);
    await shop.sendAll(...messages);

    expectOrder(await world.untilStored('orders', messages), messages);
  });

  it('a message of a batch that SNS refuses fails for good and holds back its stream only', async () => {
    const { world, shop, network } = await sender();
    await using _ = world;
    const messages = interleaved([stream('orders', 3), stream('orders', 3)]);
    network.intercept = failingEntries((id) => id === messages[2]?.messageId, true);

    const outcomes = await shop.send(...messages);

    expect(outcomes.map(({ kind }) => kind)).toEqual(['sent', 'sent', 'failed', 'sent', 'held-back', 'sent']);
    expect(outcomes[2]).toMatchObject({ final: true, error: { code: 'INVALID_MESSAGE' } });
    await world.untilStored(
      'orders',
      [0, 1, 3, 5].map((i) => messages[i] as never),
    );
  });

  it('a message for which SNS refuses its whole batch is found, and the others leave', async () => {
    const { world, shop, network } = await sender();
    await using _ = world;
    const messages = Array.from({ length: 10 }, () => message('orders'));
    const poison = messages[4]?.messageId as string;
    network.intercept = ({ action, body }) =>
      action === 'PublishBatch' && body.includes(poison)
        ? snsRefusal('InvalidParameter', 'Invalid parameter')
        : undefined;

    const outcomes = await shop.send(...messages);

    expect(outcomes.map(({ kind }) => kind === 'failed')).toEqual(
      messages.map(({ messageId }) => messageId === poison),
    );
    await world.untilStored(
      'orders',
      messages.filter(({ messageId }) => messageId !== poison),
    );
  });

  it('a right to publish that is taken away keeps the messages waiting, with the line that the policy lacks', async () => {
    const { world, shop, network } = await sender();
    await using _ = world;
    const sent = message('orders');
    network.intercept = ({ action }) =>
      action === 'PublishBatch' ? snsRefusal('AuthorizationError', 'not authorized', 403) : undefined;

    await expect(shop.send(sent)).rejects.toMatchObject({
      code: 'PERMISSION_DENIED',
      hint: expect.stringMatching(/"Action": "sns:Publish", "Resource": "arn:aws:sns:.*\.fifo"/),
    });
    network.intercept = undefined;
    await shop.connection.ready(never);
    await shop.sendAll(sent);

    await world.untilStored('orders', [sent]);
  });

  it('a message at the size limit is written, and one byte more is refused with both numbers', () => {
    const sized = (length: number) => message('orders', { payload: 'ü'.repeat(10) + 'x'.repeat(length) });
    const { bytes } = toWire(sized(0), 10_000);
    expect(toWire(sized(2_000 - bytes), 2_000).bytes).toBe(2_000);
    expect(() => toWire(sized(2_001 - bytes), 2_000)).toThrow(/2001 bytes on the wire, more than the 2000/);
  });

  it('a character that SQS refuses and JSON leaves alone is escaped', () => {
    const payload = 'a\uFFFEb\uFFFFc\uFFFD\u0000😀';
    const { entry } = toWire(message('orders', { payload }), 10_000);
    expect(entry.Message).not.toMatch(/[\uFFFE\uFFFF]/);
    expect(JSON.parse(entry.Message as string).data).toBe(payload);
  });

  it.each(['', 'a\u0000b', '\uD800', 'a\uFFFF'])(
    'an address that SNS cannot carry fails for good: %j',
    async (address) => {
      const { world, shop } = await sender();
      await using _ = world;
      expect(await shop.send(message(address))).toMatchObject([
        { kind: 'failed', final: true, error: { code: 'INVALID_MESSAGE', details: { address } } },
      ]);
      const receiving = shop.connection.receive({ addresses: [address], prefetch: 1 }, () => {});
      await expect(receiving).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        details: { option: 'address' },
      });
    },
  );

  it('a function of credentials is called again when they have expired', async () => {
    await using network = await startAwsNetwork(standInUrl);
    let asked = 0;
    const credentials = async () => ({
      accessKeyId: `KEY${++asked}`,
      secretAccessKey: 'secret',
      expiration: new Date(Date.now() + 100),
    });
    const transport = transportAt(network.url, { topic: freshTopic(), credentials });
    const connection = await transport.connect(host('shop'));
    const before = asked;

    await connection.send([message('orders', { streamId: randomUUID() })], never);

    expect(asked).toBeGreaterThan(before);
    await connection.close();
  });

  it('a function of credentials that fails is an outage: the instance starts, and sends when it works', async () => {
    let isDown = true;
    const credentials = async () => {
      if (isDown) throw new Error('the vault is sealed');
      return { accessKeyId: 'KEY', secretAccessKey: 'secret' };
    };
    const transport = transportAt(standInUrl, { topic: freshTopic(), credentials });
    const connection = await transport.connect(host('shop'));
    const sent = message('orders');
    await expect(connection.send([sent], never)).rejects.toMatchObject({
      code: 'TRANSPORT_UNAVAILABLE',
      message: expect.stringContaining('the vault is sealed'),
    });

    isDown = false;
    await connection.ready(never);
    expect(await connection.send([sent], never)).toEqual([{ kind: 'sent' }]);
    await connection.close();
  });
});
