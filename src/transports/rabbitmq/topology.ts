import type { Channel, ChannelModel } from 'amqplib';
import { bindingKeysOf, exchangesOf, queueOf } from './names.js';
import { channelError, codeOf, queueArguments, reply } from './refusals.js';
import type { RabbitmqSettings } from './settings.js';

export interface Topology {
  /** Makes or checks the exchanges. Rejects with a WhizbangError. */
  exchanges(model: ChannelModel): Promise<void>;
  /** Makes or checks the queue of a shard, with its bindings. False: its arguments could not be compared. */
  queue(model: ChannelModel, shard: number, addresses: readonly string[]): Promise<boolean>;
  /** Says why the broker has closed a channel. */
  explain(error: unknown, what: string): Error;
}

export function topologyOf(settings: RabbitmqSettings, service: string, username: () => string): Topology {
  const { topology, prefix, shards } = settings;
  const exchanges = Object.values(exchangesOf(prefix)) as readonly string[];
  const explain = (error: unknown, what: string) =>
    channelError(error, what, { settings, service, username: username() });

  const steps = {
    declare: {
      exchange: (name: string) => (channel: Channel) =>
        channel.assertExchange(name, 'topic', { durable: true }),
      queue: (name: string) => (channel: Channel) => assertQueue(channel, name),
    },
    check: {
      exchange: (name: string) => (channel: Channel) => channel.checkExchange(name),
      queue: (name: string) => (channel: Channel) => channel.checkQueue(name),
    },
  };

  return {
    explain,
    exchanges: async (model) => {
      if (topology === 'off') return;
      for (const name of exchanges) {
        await onChannel(model, steps[topology].exchange(name)).catch((error: unknown) => {
          throw explain(error, `${topology} the exchange ${name}`);
        });
      }
    },
    queue: async (model, shard, addresses) => {
      if (topology === 'off') return false;
      const name = queueOf(prefix, service, shard, shards);
      const failed = (error: unknown): never => {
        throw explain(error, `${topology} the queue ${name}`);
      };
      await onChannel(model, steps[topology].queue(name)).catch(failed);
      if (topology === 'check') {
        // It exists, so this makes nothing: it compares the arguments. Only a user who may configure the queue is told.
        return onChannel(model, (channel) => assertQueue(channel, name)).then(
          () => true,
          (error: unknown) => codeOf(error) !== reply.accessRefused && failed(error),
        );
      }
      const keys = addresses.flatMap((address) => bindingKeysOf(address, shard, shards));
      await onChannel(model, async (channel) => {
        for (const exchange of exchanges)
          for (const key of keys) await channel.bindQueue(name, exchange, key);
      }).catch(failed);
      return true;
    },
  };
}

const assertQueue = (channel: Channel, name: string) =>
  channel.assertQueue(name, { durable: true, arguments: queueArguments });

/** On a channel of its own, because an error closes it. */
export async function onChannel<T>(model: ChannelModel, work: (channel: Channel) => Promise<T>): Promise<T> {
  const channel = await model.createChannel();
  channel.on('error', () => {});
  // Where the connection ends before the broker has confirmed the close, amqplib leaves that promise open for ever.
  const ended = new Promise<void>((resolve) => channel.once('close', resolve));
  const result = await work(channel);
  await Promise.race([channel.close(), ended]);
  return result;
}
