// A whole service on a database of its own, as a user would run it: one event or command, one receptor that
// only reports that it was started. In: options of the instance. Out: instances that run until they are
// closed.
// Used by the questions about the runtime; it takes no times itself.

import type pg from 'pg';
import { z } from 'zod';
import {
  createWhizbang,
  defineCommand,
  defineEvent,
  type Queryable,
  type ReceptorOptions,
  receptor,
  type Whizbang,
  type WhizbangOptions,
} from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import type { BenchMessage } from '../messages.js';
import type { BenchDatabase, BenchServer } from '../server.js';

const line = z.object({ sku: z.string(), quantity: z.number(), price: z.number() });

const order = z.object({
  orderId: z.string(),
  number: z.number(),
  customer: z.string(),
  currency: z.string(),
  lines: z.array(line),
  placedAt: z.string(),
});
const stream = ({ orderId }: Order) => orderId;

export type Order = z.infer<typeof order>;
export const OrderPlaced = defineEvent('OrderPlaced', { schema: order, stream });
export const PlaceOrder = defineCommand('PlaceOrder', { schema: order, stream });

/** Makes an order with the same content as that of the bare messages. */
export const orderOf = ({ event_data }: BenchMessage) => OrderPlaced(event_data as Order);
export const commandOf = ({ event_data }: BenchMessage) => PlaceOrder(event_data as Order);

export interface ServiceOptions {
  /**
   * Events, which are also stored in the event store, or commands that the service sends to itself. Default:
   * events.
   */
  readonly kind?: 'event' | 'command';
  readonly transactional: boolean;
  /** Limits of the receptor. */
  readonly limits?: Pick<ReceptorOptions<boolean, Order>, 'concurrency' | 'across' | 'key'>;
  /** How many instances run. All of them are in this process. */
  readonly instances?: number;
  /** Returns options for an instance. Called once per instance. */
  readonly options?: (database: BenchDatabase) => Partial<WhizbangOptions>;
  /** The rest of the handler. It runs in the transaction, if there is one. */
  readonly onHandled: (messageId: string, order: Order, tx: Queryable | undefined) => void | Promise<void>;
}

export class RunningService {
  readonly database: BenchDatabase;
  readonly instances: readonly Whizbang[];
  /** A client for other uses of the service's database. */
  readonly client: pg.Client;
  readonly #kind: 'event' | 'command';

  private constructor(
    database: BenchDatabase,
    instances: readonly Whizbang[],
    client: pg.Client,
    kind: 'event' | 'command',
  ) {
    this.database = database;
    this.instances = instances;
    this.client = client;
    this.#kind = kind;
  }

  static async open(server: BenchServer, { instances = 1, ...service }: ServiceOptions) {
    const database = await server.createMigratedDatabase();
    const client = await database.connect();
    const running = Array.from({ length: instances }, () => instanceOn(database, service));
    for (const instance of running) await instance.start();
    return new RunningService(database, running, client, service.kind ?? 'event');
  }

  /** The instance that publishes. */
  get first(): Whizbang {
    return this.instances[0] as Whizbang;
  }

  /** Sends messages outside a transaction. Resolves when they are stored. */
  async send(messages: readonly BenchMessage[]): Promise<void> {
    if (this.#kind === 'event') await this.first.publish(messages.map(orderOf));
    else await this.first.send(messages.map(commandOf));
  }

  /** Stops the instances. The database stays until it is closed as well. */
  async stop(): Promise<void> {
    for (const instance of this.instances) await instance.stop();
  }

  async close(): Promise<void> {
    await this.stop();
    await this.client.end();
    await this.database.drop();
  }
}

function instanceOn(
  database: BenchDatabase,
  { kind = 'event', transactional, limits, options, onHandled }: Omit<ServiceOptions, 'instances'>,
): Whizbang {
  const definition = kind === 'event' ? OrderPlaced : PlaceOrder;
  const onOrder = receptor(
    definition,
    { ...limits, transaction: transactional },
    async (placed, { envelope, tx }) => {
      await onHandled(envelope.messageId, placed, tx);
    },
  );
  return createWhizbang({
    service: 'shop',
    connectionString: database.connectionString,
    logger: silentLogger,
    receptors: [onOrder],
    ...options?.(database),
  } as WhizbangOptions);
}
