import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import pg from 'pg';
import { expect, it } from 'vitest';
import { guardPool, type ListenClient, withPooledClient } from '../../src/database/index.js';
import { silentLogger } from '../../src/logger.js';
import { Listener } from '../../src/work/index.js';

/** Greets whoever connects and ends the connection in the same breath, as a server does that is being stopped. */
async function startHastyServer() {
  const message = (letter: string, body: string) => {
    const bytes = Buffer.from(`${letter}....${body}`, 'latin1');
    bytes.writeInt32BE(bytes.length - 1, 1);
    return bytes;
  };
  const greeting = Buffer.concat([message('R', '\0\0\0\0'), message('Z', 'I')]);
  const end = message('E', 'SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0');
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => socket.end(Buffer.concat([greeting, end])));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    connectionString: `postgres://somebody@127.0.0.1:${(server.address() as AddressInfo).port}/any`,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

it('a connection that breaks as it is handed out fails the call, not the process', async () => {
  await using server = await startHastyServer();
  const pool = new pg.Pool({ connectionString: server.connectionString });
  guardPool(pool);
  const call = withPooledClient(pool, (client) => client.query('select 1'));
  await expect(call).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
  await pool.end();
});

it('a connection that breaks before it listens is given back to its pool', async () => {
  let given = 0;
  const client: ListenClient = {
    query: () => Promise.reject(new Error('the connection is broken')),
    on: () => {},
    end: async () => {
      given--;
    },
  };
  const listener = new Listener({
    connect: async () => {
      given++;
      return client;
    },
    schema: '"whizbang"',
    onWake: () => {},
    onHint: () => {},
    onAnswer: () => {},
    onTimer: () => {},
    logger: silentLogger,
  });
  await listener.open();
  expect(given).toBe(0);
  await listener.close();
});
