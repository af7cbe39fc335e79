// The in-process transport on trial, and any transport that is made of it.
import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { silentLogger } from '../../src/logger.js';
import type { InProcessTransport, Transport, TransportState } from '../../src/transports/index.js';
import type { Lacking, TransportSubject } from './subject.js';

/** It looks at none of this but the service's name. */
export const inProcessHost = (serviceName: string, onState: (state: TransportState) => void = () => {}) => ({
  instance: { instanceId: randomUUID(), serviceName, hostName: 'host-1', processId: 1 },
  pool: { connect: () => Promise.reject(new Error('It needs no database.')) },
  schema: 'whizbang',
  logger: silentLogger,
  onState,
});

export const inProcessLacks: Lacking = {
  locks: 'it takes back nothing by itself',
  sizeLimit: 'memory has no limit of its own',
  binaryMode: 'it has no headers: a message is one JSON object',
};

/** Faults happen in the hub; `transport` is what is on trial. */
export function inProcessSubject(hub: InProcessTransport, transport: Transport = hub): TransportSubject {
  return {
    traits: transport.traits,
    join: async (service) => {
      const states: TransportState[] = [];
      const connection = await transport.connect(inProcessHost(service, (state) => states.push(state)));
      // The hub notices at once that an instance is gone, as a broker does when a socket is reset.
      return { connection, states, crash: () => connection.close() };
    },
    goAway: async () => hub.goAway(),
    comeBack: async () => hub.comeBack(),
    loseAnswerTo: async (send) => {
      hub.goAway({ afterMessages: 2 });
      await expect(send()).rejects.toMatchObject({ code: 'TRANSPORT_UNAVAILABLE' });
      hub.comeBack();
    },
    dropMiddleOf: async (send) => {
      hub.goAway({ afterMessages: 7, forMessages: 1 });
      await send();
      hub.comeBack();
    },
    refused: (each) => ({ ...each, payload: 1n }),
    sendUnreadable: async (address, bytes) => hub.deliverUnreadable(address, bytes),
    sendForeign: async (address, { attributes, data }) =>
      hub.deliverUnreadable(address, Buffer.from(JSON.stringify({ ...attributes, data }))),
    [Symbol.asyncDispose]: async () => {},
  };
}
