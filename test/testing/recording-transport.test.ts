import { describe, expect, it } from 'vitest';
import { recordingTransport } from '../../src/testing/recording-transport.js';
import { inProcessTransport } from '../../src/transports/index.js';
import { inProcessHost } from '../transports/in-process-subject.js';

describe('The recording transport', () => {
  it('a recorded connection still tells what the broker knows of the queues', async () => {
    const recording = { sent: new Map(), carried: new Map(), onSend: () => {} };
    const connection = await recordingTransport(inProcessTransport(), recording).connect(
      inProcessHost('shop'),
    );
    await connection.receive({ addresses: ['shop'], prefetch: 1 }, () => {});

    const facts = { name: 'shop', depth: 0, unacknowledged: 0, consumers: 1, oldestSeconds: null };
    expect(await connection.inspect?.()).toEqual([facts]);
    await connection.close();
  });
});
