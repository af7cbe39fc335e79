import { describe, expect, it } from 'vitest';
import { azureServiceBusTransport } from '../../../src/azure-service-bus.js';
import { WhizbangError } from '../../../src/errors.js';
import { ServiceBusStandIn } from '../../support/brokers/service-bus/service-bus.js';
import { eventually } from '../../support/eventually.js';
import { message, never, World } from '../world.js';
import { azureSubject, hostOf } from './subject.js';

const connectionString =
  'Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=n;SharedAccessKey=hidden';
const credential = { getToken: async () => null };

describe('Azure Service Bus: options', () => {
  it.each([
    ['nothing', {}, 'connectionString'],
    ['a namespace without a credential', { fullyQualifiedNamespace: 'x' }, 'connectionString'],
    ['two ways to connect', { connectionString, credential }, 'connectionString'],
    [
      'a connection string without a key',
      { connectionString: 'Endpoint=sb://x/;SharedAccessKeyName=n' },
      'connectionString',
    ],
    ['a connection string that is none', { connectionString: 'amqps://hidden@x' }, 'connectionString'],
    ['no shard', { connectionString, shards: 0 }, 'shards'],
    ['too many shards', { connectionString, shards: 1_001 }, 'shards'],
    ['a lock that is too long', { connectionString, lockSeconds: 301 }, 'lockSeconds'],
    ['no lock', { connectionString, lockSeconds: 0 }, 'lockSeconds'],
    ['no time to hold', { connectionString, holdSeconds: 0 }, 'holdSeconds'],
    ['a hold of more than an hour', { connectionString, holdSeconds: 3_601 }, 'holdSeconds'],
    ['no session at a time', { connectionString, concurrentSessions: 0 }, 'concurrentSessions'],
    ['more sessions than it may hold', { connectionString, concurrentSessions: 1_001 }, 'concurrentSessions'],
    ['an unknown topology', { connectionString, topology: 'make' }, 'topology'],
    ['unknown sessions', { connectionString, sessions: 'shards' }, 'sessions'],
    ['a topic that cannot be spelled', { connectionString, topic: 'a b' }, 'topic'],
    ['an option that it does not know', { connectionString, queue: 'x' }, 'queue'],
  ])('azureServiceBusTransport refuses %s, and shows no secret', (_, options, option) => {
    let error: unknown;
    try {
      azureServiceBusTransport(options as never);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: 'INVALID_OPTION', details: { option } });
    expect(`${(error as WhizbangError).message} ${(error as WhizbangError).hint}`).not.toContain('hidden');
  });

  it('azureServiceBusTransport takes the bounds of its options, and a credential', () => {
    const lowest = { shards: 1, lockSeconds: 1, holdSeconds: 1, concurrentSessions: 1 };
    const highest = { shards: 1_000, lockSeconds: 300, holdSeconds: 3_600, concurrentSessions: 1_000 };
    for (const bounds of [lowest, highest]) azureServiceBusTransport({ connectionString, ...bounds });
    const byToken = azureServiceBusTransport({
      fullyQualifiedNamespace: 'x.servicebus.windows.net',
      credential,
      sessions: 'stream',
    });
    expect(byToken.traits).toEqual({ moves: 'stream', sent: 'replicated', knowsReceivers: false });
    expect(azureServiceBusTransport({ connectionString }).traits.moves).toBe('shard');
  });
});

async function failure(work: Promise<unknown>): Promise<WhizbangError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(WhizbangError);
  return error as WhizbangError;
}

describe('Azure Service Bus: what is missing at the broker', () => {
  it('a wrong key is refused at the start, and the error does not show it', async () => {
    for (const topology of ['declare', 'check', 'off'] as const) {
      await using standIn = await ServiceBusStandIn.start();
      standIn.namespace.createTopic('whizbang');
      const transport = azureServiceBusTransport({
        connectionString: standIn.connectionString('worker', 'wrong-key'),
        administrationUrl: standIn.administrationUrl,
        topology,
      });
      const error = await failure(transport.connect(hostOf('orders')));
      expect(error.code).toBe('PERMISSION_DENIED');
      expect(JSON.stringify([error.message, error.hint, error.details])).not.toContain('wrong-key');
    }
  });

  it('declaring without the claim Manage is refused, and the error says what to give', async () => {
    await using standIn = await ServiceBusStandIn.start();
    const { administrationUrl } = standIn;
    const transport = azureServiceBusTransport({
      connectionString: standIn.connectionString('worker'),
      administrationUrl,
    });
    const error = await failure(transport.connect(hostOf('orders')));
    expect(error).toMatchObject({
      code: 'PERMISSION_DENIED',
      hint: expect.stringContaining("topology: 'check'"),
    });
  });

  it('check names the command for a topic, a subscription and a rule that are missing, and needs no claim Manage', async () => {
    await using standIn = await ServiceBusStandIn.start();
    const transport = azureServiceBusTransport({
      connectionString: standIn.connectionString('worker'),
      administrationUrl: standIn.administrationUrl,
      topology: 'check',
    });
    const topic = await failure(transport.connect(hostOf('Orders')));
    expect(topic).toMatchObject({
      code: 'INVALID_OPTION',
      hint: expect.stringContaining('az servicebus topic create'),
    });

    standIn.namespace.createTopic('whizbang');
    await using connection = disposable(await transport.connect(hostOf('Orders')));
    const receive = () => connection.receive({ addresses: ['Orders', 'Paid'], prefetch: 1 }, () => {});
    const subscription = await failure(receive());
    expect(subscription.hint).toContain('az servicebus topic subscription create');
    expect(subscription.hint).toContain(
      '--name _4frders --enable-session true --max-delivery-count 2147483647',
    );

    standIn.namespace.createSubscription('whizbang', '_4frders', { rules: { _4frders: { to: 'Orders' } } });
    const rule = await failure(receive());
    expect(rule.details.commands).toEqual([
      expect.stringMatching(/rule create .*--name _50aid .*--to 'Paid'$/),
    ]);

    const rules = standIn.namespace.subscription('whizbang', '_4frders')?.rules;
    rules?.set('_50aid', { to: 'Paid' }).set('$Default', { sql: '1=1' });
    const tooMuch = await failure(receive());
    expect(tooMuch.details.commands).toEqual([expect.stringMatching(/rule delete .*--name '\$Default'$/)]);

    rules?.delete('$Default');
    await (await receive()).stop();
    expect(await connection.inspect?.()).toMatchObject([{ depth: null }]);
  });

  it('a subscription without sessions is refused, and the error says how to make it anew', async () => {
    await using standIn = await ServiceBusStandIn.start();
    const { administrationUrl } = standIn;
    standIn.namespace.createTopic('whizbang');
    standIn.namespace.createSubscription('whizbang', 'orders', { requiresSession: false });
    const transport = azureServiceBusTransport({
      connectionString: standIn.connectionString(),
      administrationUrl,
    });
    await using connection = disposable(await transport.connect(hostOf('orders')));
    const error = await failure(connection.receive({ addresses: ['orders'], prefetch: 1 }, () => {}));
    expect(error).toMatchObject({
      code: 'INVALID_OPTION',
      hint: expect.stringContaining('--enable-session true'),
    });
  });

  it('a key without the claim Listen can send, and its receiver tells that it cannot receive', async () => {
    await using standIn = await ServiceBusStandIn.start();
    standIn.namespace.createTopic('whizbang');
    standIn.namespace.createSubscription('whizbang', 'orders');
    const states: { receiving: boolean }[] = [];
    const transport = azureServiceBusTransport({
      connectionString: standIn.connectionString('sender'),
      topology: 'off',
    });
    await using connection = disposable(await transport.connect(hostOf('orders', states as never)));
    await connection.receive({ addresses: ['orders'], prefetch: 1 }, () => {});
    await eventually(() => expect(states.at(-1)).toMatchObject({ sending: true, receiving: false }));
    expect(await connection.send([message('orders')], never)).toEqual([{ kind: 'sent' }]);
  });

  it('declare makes topic, subscription and rules, and takes delivery limit and default rule from one that is there', async () => {
    const subject = await azureSubject({ lockSeconds: 7 });
    await using world = new World(subject);
    await Promise.all([world.listen('orders'), world.listen('orders'), world.listen('orders')]);
    const { namespace } = subject.standIn;
    const orders = namespace.subscription('whizbang', 'orders');
    expect(orders).toMatchObject({ requiresSession: true, lockMs: 7_000, maxDeliveryCount: 2_147_483_647 });
    expect([...(orders?.rules ?? [])]).toEqual([
      ['$Default', { sql: '1=0' }],
      ['orders', { to: 'orders' }],
    ]);

    const limited = namespace.createSubscription('whizbang', 'billing', { maxDeliveryCount: 10 });
    await world.listen('billing');
    expect(limited.maxDeliveryCount).toBe(2_147_483_647);
    expect([...limited.rules]).toEqual([['billing', { to: 'billing' }]]);
  });

  it('an instance that starts while the broker is away tells when it can send and receive', async () => {
    const subject = await azureSubject();
    await using world = new World(subject);
    await subject.goAway();
    const orders = await world.listen('orders');
    const states = () => orders.instance.states?.at(-1);
    expect(states()).toMatchObject({
      sending: false,
      receiving: false,
      error: { code: 'TRANSPORT_UNAVAILABLE' },
    });

    await subject.comeBack();

    await eventually(() => expect(states()?.sending).toBe(true));
    const shop = await world.join('shop');
    const sent = message('orders');
    await eventually(() =>
      expect(subject.standIn.namespace.subscription('whizbang', 'orders')?.rules.size).toBe(2),
    );
    await shop.sendAll(sent);
    await world.untilStored('orders', [sent]);
    expect(states()).toEqual({ sending: true, receiving: true });
  });
});

function disposable<T extends { close(): Promise<void> }>(connection: T): T & AsyncDisposable {
  return Object.assign(connection, { [Symbol.asyncDispose]: () => connection.close() });
}
