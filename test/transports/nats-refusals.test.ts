import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../src/logger.js';
import { type NatsTransportOptions, natsTransport } from '../../src/nats.js';
import { natsIsInstalled, startNatsServer } from '../support/brokers/nats-server.js';
import type { TestDatabase } from '../support/database.js';
import { natsSubject } from './nats-services.js';
import { createServices } from './postgres-services.js';
import { message, World } from './world.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await createServices();
});
afterAll(() => db.drop());

const open = (options: NatsTransportOptions) =>
  natsTransport(options).connect({
    instance: { instanceId: randomUUID(), serviceName: 'orders', hostName: 'host-1', processId: 1 },
    pool: db.pool,
    schema: 'orders',
    logger: silentLogger,
    onState: () => {},
  });

/** The page's own permissions. */
const page = readFileSync(new URL('../../docs/transports/nats.md', import.meta.url), 'utf8');
const permissions = /```text\n(permissions:[\s\S]*?)```/.exec(page)?.[1] ?? '';

describe('The options of natsTransport', () => {
  it.each<[string, Record<string, unknown>]>([
    ['servers', { servers: [] }],
    ['servers', { servers: 'http://secret:password@host' }],
    ['topology', { servers: 'a', topology: 'make' }],
    ['shards', { servers: 'a', shards: 0 }],
    ['shards', { servers: 'a', shards: 65 }],
    ['replicas', { servers: 'a', replicas: 1.5 }],
    ['prefix', { servers: 'a', prefix: 'a.b' }],
    ['leaseSeconds', { servers: 'a', leaseSeconds: 0 }],
    ['shard', { servers: 'a', shard: 1 }],
    ['tls.caFile', { servers: 'a', tls: { caFile: '/nowhere/ca.pem' } }],
  ])('a wrong option of natsTransport is named and no secret is told: %s', (option, options) => {
    let error: unknown;
    try {
      natsTransport(options as never);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: 'INVALID_OPTION', details: { option } });
    expect(String((error as Error).stack)).not.toContain('password');
  });

  it('natsTransport tells what moves and what sent means', () => {
    const traits = (options: object) => natsTransport({ servers: 'a', ...options }).traits;
    expect(traits({})).toEqual({ moves: 'service', sent: 'memory', knowsReceivers: false });
    expect(traits({ shards: 2, replicas: 3 })).toMatchObject({ moves: 'shard', sent: 'replicated' });
  });
});

describe.runIf(natsIsInstalled)('A NATS server that refuses', () => {
  it('wrong credentials at NATS are refused at the start, without the password in the error', async () => {
    await using server = await startNatsServer({
      config: 'authorization { user: "orders", password: "right" }',
    });
    const servers = server.url.replace('//', '//orders:wrong-secret@');
    const error = await open({ servers }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'INVALID_OPTION', details: { option: 'credentials' } });
    expect(String((error as Error).stack)).not.toContain('wrong-secret');
    const connection = await open({
      servers: server.url,
      credentials: async () => ({ user: 'orders', password: 'right' }),
    });
    await connection.close();
  });

  it('a NATS server without JetStream is refused with the way to enable it', async () => {
    await using server = await startNatsServer({ jetStream: false });
    await expect(open({ servers: server.url })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      hint: expect.stringContaining('--jetstream'),
    });
  });

  it('a stream at NATS that is missing, has limits, other shards or too few replicas is refused by name', async () => {
    await using server = await startNatsServer();
    const nc = await connect({ servers: server.url });
    const { streams } = await jetstreamManager(nc);
    const options = (prefix: string) => ({ servers: server.url, prefix }) as const;
    await expect(open({ ...options('a'), topology: 'check' })).rejects.toMatchObject({
      details: { option: 'topology' },
      message: expect.stringContaining('no stream a'),
    });
    await expect(open({ ...options('b'), replicas: 3 })).rejects.toMatchObject({
      details: { option: 'replicas' },
    });
    const subjects = ['c.*.0', 'c.floor.*.0'];
    await streams.add({ name: 'c', subjects, max_age: 60_000_000_000, max_msgs: 5 });
    await expect(open(options('c'))).rejects.toMatchObject({
      details: { settings: ['max_age', 'max_msgs'] },
      hint: expect.stringContaining('nats stream edit c --max-age=0 --max-msgs=-1'),
    });
    await (await open(options('d'))).close();
    await expect(open({ ...options('d'), shards: 2 })).rejects.toMatchObject({
      details: { option: 'shards', shards: 1 },
    });
    await expect(open({ ...options('d'), replicas: 3 })).rejects.toMatchObject({
      details: { option: 'replicas' },
    });
    await (await open({ ...options('d'), topology: 'check' })).close();
    await nc.close();
  });

  it('a NATS user with the documented permissions can send and receive, and one without is told what is missing', async () => {
    const config = `authorization { users: [
      { user: admin, password: admin },
      { user: service, password: service, ${permissions} },
      { user: nobody, password: nobody, permissions: { publish: ["nothing"], subscribe: ["_INBOX.>"] } } ] }`;
    await using server = await startNatsServer({ config });
    const url = (user: string) => server.url.replace('//', `//${user}:${user}@`);
    await (await open({ servers: url('admin') })).close();
    await expect(open({ servers: url('nobody') })).rejects.toMatchObject({
      details: { option: 'credentials', subject: '$JS.API.STREAM.INFO.whizbang' },
    });
    const admin = { ...server, url: url('admin') };
    await using world = new World(
      await natsSubject(admin, db, {
        credentials: { user: 'service', password: 'service' },
        prefix: 'whizbang',
        topology: 'check',
      }),
    );
    const orders = await world.listen('orders');
    const sent = message('orders');
    await orders.sendAll(sent);
    await world.untilStored('orders', [sent]);
    expect(await orders.connection.inspect?.()).toHaveLength(1);
  });
});
