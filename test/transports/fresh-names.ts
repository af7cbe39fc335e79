import { randomUUID } from 'node:crypto';
import type { Delivery, TransportConnection } from '../../src/transports/index.js';
import type { SubjectInstance, TransportSubject } from './subject.js';

/**
 * Gives every service and address of a trial a name that no other trial has, for a broker that is not emptied between
 * them: to delete a queue and declare it again at once is a trial of its own.
 */
export function withFreshNames(subject: TransportSubject): TransportSubject {
  const ending = `-${randomUUID().slice(0, 8)}`;
  const own: Pick<TransportSubject, 'join' | 'sendUnreadable' | 'sendForeign'> = {
    join: async (service) => renamedInstance(await subject.join(service + ending), ending),
    ...(subject.sendUnreadable && {
      sendUnreadable: async (address, bytes) => subject.sendUnreadable?.(address + ending, bytes),
    }),
    ...(subject.sendForeign && {
      sendForeign: async (address, event) => subject.sendForeign?.(address + ending, event),
    }),
  };
  return overriding(subject, own);
}

function renamedInstance(instance: SubjectInstance, ending: string): SubjectInstance {
  const { connection } = instance;
  const renamed: Pick<TransportConnection, 'send' | 'receive'> = {
    send: (messages, signal) => {
      const given = messages.map((each) => ({ ...each, address: each.address + ending }));
      return connection.send(given, signal);
    },
    receive: ({ addresses, prefetch }, deliver) => {
      const subscription = { addresses: addresses.map((each) => each + ending), prefetch };
      return connection.receive(subscription, (delivery) => deliver(withOldName(delivery, ending)));
    },
  };
  return overriding(instance, { connection: overriding(connection, renamed) });
}

function withOldName(delivery: Delivery, ending: string): Delivery {
  const { content } = delivery;
  const { address } = content;
  const old = address.endsWith(ending) ? address.slice(0, -ending.length) : address;
  return overriding(delivery, { content: { ...content, address: old } });
}

/** The object with some of its members changed. The others are called on the object itself, which may have private parts. */
function overriding<T extends object>(object: T, own: Partial<T>): T {
  return new Proxy(object, {
    get: (_, name) => {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name);
      const value: unknown = Reflect.get(object, name);
      return typeof value === 'function' ? value.bind(object) : value;
    },
  });
}
