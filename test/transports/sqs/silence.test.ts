import { expect, it } from 'vitest';
import { Aws } from '../../../src/transports/sqs/aws.js';
import { resolveSqsOptions } from '../../../src/transports/sqs/sqs-options.js';
import { startTcpProxy } from '../../coordinator/tcp-proxy.js';
import { credentials, region, standInUrl } from './sqs-subject.js';

it('a request that gets no answer costs its time once, however many connections have died silently', async () => {
  await using network = await startTcpProxy(standInUrl);
  const endpoint = network.connectionString;
  const aws = await Aws.load(resolveSqsOptions({ region, endpoint, credentials }));
  const list = (seconds?: number) =>
    aws.request(
      { action: 'sqs:ListQueues', resource: '*', ...(seconds !== undefined && { seconds }) },
      (options) => aws.sqs.listQueues({}, options),
    );
  try {
    await Promise.all([list(), list(), list()]);
    expect(network.accepted).toBe(3);
    network.moveTo(standInUrl, 'silent');

    await expect(list(0.5)).rejects.toMatchObject({ code: 'TRANSPORT_UNAVAILABLE' });

    await expect(list()).resolves.toBeDefined();
    expect(network.accepted).toBe(4);
  } finally {
    aws.destroy();
  }
});
