import { describe, expect, it } from 'vitest';
import { type Asker, type Scheme, schemes, transportOfUrl } from '../../src/transport-of-url.js';
import { inProcessTransport } from '../../src/transports/index.js';

const to: Asker = { command: 'relay', flag: '--to', purpose: 'sending' };
const from: Asker = { command: 'relay', flag: '--from', purpose: 'receiving' };
const look: Asker = { command: 'doctor', flag: '--transport', purpose: 'looking' };

/** The known schemes, with a transport that only keeps the options that it was given. */
function told() {
  const seen: unknown[] = [];
  const load = async () => (options: unknown) => {
    seen.push(options);
    return inProcessTransport();
  };
  const known = Object.fromEntries(
    Object.entries(schemes).map(([name, scheme]): [string, Scheme] => [name, { ...scheme, load }]),
  );
  return { known, seen };
}

const azure = 'Endpoint=sb://n.servicebus.windows.net/;SharedAccessKeyName=root;SharedAccessKey=a+b/c=';

describe('URLs of a relay', () => {
  it.each([
    ['amqp://u:p@h', { url: 'amqp://u:p@h' }],
    [
      'AMQPS://h/vhost?topology=check&shards=4&heartbeat=9',
      { url: 'AMQPS://h/vhost?heartbeat=9', topology: 'check', shards: 4 },
    ],
    ['amqp://a,amqp://b?prefix=x', { urls: ['amqp://a', 'amqp://b'], prefix: 'x' }],
    ['nats://h:4222', { servers: ['nats://h:4222'] }],
    ['tls://a,tls://b?replicas=3&shards=8', { servers: ['tls://a', 'tls://b'], replicas: 3, shards: 8 }],
    [azure, { connectionString: azure }],
    [
      'sb://root:a%2Bb%2Fc%3D@n.servicebus.windows.net?sessions=stream',
      { connectionString: azure, sessions: 'stream' },
    ],
    [
      'sb://k:v@127.0.0.1:5672?UseDevelopmentEmulator=true',
      {
        connectionString:
          'Endpoint=sb://127.0.0.1:5672/;SharedAccessKeyName=k;SharedAccessKey=v;UseDevelopmentEmulator=true',
      },
    ],
    ['sqs://eu-central-1', { region: 'eu-central-1' }],
    ['sqs+http://h:4566', { region: 'us-east-1', endpoint: 'http://h:4566' }],
    ['sqs+https://h?region=x', { region: 'x', endpoint: 'https://h' }],
    [
      'sqs+http://KEY:a%2Fb%2B@h:4566',
      {
        region: 'us-east-1',
        endpoint: 'http://h:4566',
        credentials: { accessKeyId: 'KEY', secretAccessKey: 'a/b+' },
      },
    ],
    [
      'sqs://KEY:s@eu-central-1',
      { region: 'eu-central-1', credentials: { accessKeyId: 'KEY', secretAccessKey: 's' } },
    ],
    [
      'postgres://u:p@h/d?schema=ledger&sslmode=require',
      { databases: { ledger: { connectionString: 'postgres://u:p@h/d?sslmode=require', schema: 'ledger' } } },
    ],
    [
      'postgresql://h/d?name=billing',
      { databases: { billing: { connectionString: 'postgresql://h/d', schema: 'whizbang' } } },
    ],
  ])('the URL %s chooses its transport and its options', async (url, options) => {
    const { known, seen } = told();
    await transportOfUrl(to, url, known);
    expect(seen).toEqual([options]);
  });

  it.each([
    'kafka://u:hush@h',
    'hush',
    'sb://u:hush@:bad',
    'postgres://u:hush@h:bad/d',
    'constructor://hush',
  ])('the URL %s is refused by the name of its flag, and not shown', async (url) => {
    const error = await transportOfUrl(to, url, told().known).catch((each: unknown) => each);
    expect(error).toMatchObject({ code: 'INVALID_OPTION', details: { option: '--to' } });
    expect(JSON.stringify(error) + String(error)).not.toContain('hush');
  });

  it.each(['sqs+http://hush@h', 'sqs+https://:hush@h', 'sqs://hush@eu-central-1'])(
    'the URL %s is refused: half of its credentials is missing',
    async (url) => {
      const error = await transportOfUrl(to, url, told().known).catch((each: unknown) => each);
      expect(error).toMatchObject({ code: 'INVALID_OPTION', details: { option: 'credentials' } });
      expect(JSON.stringify(error) + String(error)).not.toContain('hush');
    },
  );

  it('nothing can be received from another database, because nothing has to be', async () => {
    const refused = transportOfUrl(from, 'postgres://h/d', told().known);
    await expect(refused).rejects.toMatchObject({ code: 'INVALID_OPTION', details: { option: '--from' } });
  });

  it.each(['amqp://h', 'nats://h?topology=declare', azure, 'sb://k:v@h', 'sqs://eu-central-1'])(
    'whoever only looks at %s makes nothing there',
    async (url) => {
      const { known, seen } = told();
      await transportOfUrl(look, url, known);
      expect(seen).toMatchObject([{ topology: 'check' }]);
    },
  );

  it('the transport of RabbitMQ is made from its URL', async () => {
    expect(await transportOfUrl(to, 'amqp://h?shards=2', schemes)).toMatchObject({
      name: 'rabbitmq',
      traits: { moves: 'shard' },
    });
    await expect(transportOfUrl(to, 'amqp://h?shards=many', schemes)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
    });
  });
});
