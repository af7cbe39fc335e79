// whizbang as a user runs it: a started service sends in batches of 100, outside a transaction, and its own
// receptor handles what arrives, in stream order: outbox, transport, inbox, receptor, completion. The schema
// validates on both sides. After each cycle a check makes sure that all were handled once and in order: by
// their effects, or else by the starts of the handler.

import type pg from 'pg';
import type { WhizbangOptions } from '../../src/index.js';
import type { Order, ServiceOptions } from '../measure/running-service.js';
import { SteadyLoad } from '../measure/steady-load.js';
import { StreamOrder } from '../measure/stream-order.js';
import { messageSource } from '../messages.js';
import type { BenchServer } from '../server.js';
import { type Runner, repeatFor } from './contender.js';
import { Effects, writeEffect } from './effects.js';

export interface ServiceSettings {
  readonly name: string;
  readonly kind: 'event' | 'command';
  readonly streams: number | 'own';
  /**
   * True: the handler writes one row in the transaction of its message. False: it writes nothing and has no
   * transaction.
   */
  readonly effect: boolean;
  readonly messagesPerCycle: number;
  /**
   * How many batches are sent without waiting for each other. Default: 1. A fast handler then has almost no
   * waiting messages.
   */
  readonly batchesAtOnce?: number;
  readonly options?: () => Partial<WhizbangOptions>;
  readonly limits?: ServiceOptions['limits'];
  /** What lies in the database before the first slice. */
  readonly prepare?: (client: pg.Client) => Promise<unknown>;
}

export async function openWhizbangService(server: BenchServer, settings: ServiceSettings): Promise<Runner> {
  const {
    name,
    kind,
    streams,
    effect,
    messagesPerCycle,
    batchesAtOnce = 1,
    options,
    limits,
    prepare,
  } = settings;
  const order = new StreamOrder(streams === 'own' ? 1 : streams);
  const load = await SteadyLoad.open(server, messageSource(streams), {
    kind,
    transactional: effect,
    mostUnderWay: messagesPerCycle,
    batchesAtOnce,
    ...(options === undefined ? {} : { options }),
    ...(limits === undefined ? {} : { limits }),
    onHandled: (messageId, { orderId: streamId, number }: Order, tx) => {
      if (tx !== undefined) return writeEffect((...sql) => tx.query(...sql), { messageId, streamId, number });
      if (streams !== 'own') order.see(streamId, number);
    },
  });
  await prepare?.(load.service.client);
  const effects = effect ? await Effects.open(load.service.database) : undefined;
  const check = async () => {
    await effects?.checkAndRemove(messagesPerCycle, { ordered: true });
    order.check();
  };
  return {
    name,
    slice: (milliseconds) => repeatFor(milliseconds, () => load.take(messagesPerCycle), check),
    close: async () => {
      await effects?.close();
      await load.close();
    },
  };
}
