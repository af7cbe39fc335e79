import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/logger.js';
import { rabbitmqTransport } from '../../src/rabbitmq.js';
import { checkServer } from '../../src/transports/rabbitmq/versions.js';

describe('Options of the RabbitMQ transport', () => {
  const url = 'amqp://localhost';

  it.each([
    ['url', {}],
    ['url', { url, urls: [url] }],
    ['urls', { urls: [] }],
    ['url', { url: 'localhost:5672 secret' }],
    ['url', { url: 'http://user:secret@localhost' }],
    ['url', { url: 'amqp://user:secret@localhost?heartbeat=1' }],
    ['topology', { url, topology: 'make' }],
    ['shards', { url, shards: 0 }],
    ['shards', { url, shards: 17 }],
    ['prefix', { url, prefix: 'a.b' }],
    ['prefix', { url, prefix: '' }],
    ['heartbeatSeconds', { url, heartbeatSeconds: 0 }],
    ['confirmSeconds', { url, confirmSeconds: 601 }],
    ['credentials', { url, credentials: { username: 'a', password: 'secret' } }],
    ['shard', { url, shard: 2 }],
  ])('the option %s is refused when it is wrong: %j', (option, options) => {
    let error: unknown;
    try {
      rabbitmqTransport(options as never);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: 'INVALID_OPTION', details: { option } });
    expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain('secret');
  });

  it('options at both ends of their bounds are accepted', () => {
    expect(rabbitmqTransport({ url, shards: 1 }).traits.moves).toBe('service');
    expect(rabbitmqTransport({ urls: [url], shards: 16, prefix: 'x'.repeat(40) }).traits.moves).toBe('shard');
  });
});

describe('Versions of RabbitMQ', () => {
  const check = (version: string, product = 'RabbitMQ') => {
    const warnings: string[] = [];
    const logger = { ...silentLogger, warn: (_facts: object, text: string) => void warnings.push(text) };
    checkServer({ product, version }, 'amqp://somewhere/', logger);
    return warnings;
  };

  it.each(['3.7.28', '3.9.29', '2.8.7'])(
    'a broker that is too old is refused with its version: %s',
    (version) => {
      expect(() => check(version)).toThrow(
        `RabbitMQ ${version}. The transport needs RabbitMQ 3.10.0 or later.`,
      );
    },
  );

  it('a broker that is not RabbitMQ is refused', () => {
    expect(() => check('2.1.0', 'LavinMQ')).toThrow('LavinMQ 2.1.0');
  });

  it.each(['3.10.0', '3.13.7', '4.2.1', '4.3.6', '5.0.0-rc.1'])(
    'the version %s is taken without a word',
    (version) => {
      expect(check(version)).toEqual([]);
    },
  );

  it.each(['4.3.0', '4.3.5'])(
    'the version %s is warned of, because its queues may stand still',
    (version) => {
      expect(check(version)).toEqual([expect.stringContaining('rabbitmq-server#17317')]);
    },
  );
});
