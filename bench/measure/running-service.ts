// A whole service on a database of its own, as a user would run it: one event, one receptor that does nothing but
// tell that it was started. In: options of the instance. Out: instances that run until they are closed.
// Used by the questions about the runtime; it takes no times itself.

import type pg from 'pg';
import { z } from 'zod';
import {
  createWhizbang,
  defineEvent,
  receptor,
  type Whizbang,
  type WhizbangOptions,
} from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import type { BenchMessage } from '../messages.js';
import type { BenchDatabase, BenchServer } from '../server.js';

const line = z.object({ sku: z.string(), quantity: z.number(), price: z.number() });

export const OrderPlaced = defineEvent('OrderPlaced', {
  schema: z.object({
    orderId: z.string(),
    number: z.number(),
    customer: z.string(),
    currency: z.string(),
    lines: z.array(line),
    placedAt: z.string(),
  }),
  stream: ({ orderId }) => orderId,
});

type OrderData = Parameters<typeof OrderPlaced>[0];

/** The same content as that of the bare messages. */
export const orderOf = ({ event_data }: BenchMessage) => OrderPlaced(event_data as OrderData);

export interface ServiceOptions {
  readonly transactional: boolean;
  /** How many instances run; they are in this process. */
  readonly instances?: number;
  /** Asked once per instance. */
  readonly options?: (database: BenchDatabase) => Partial<WhizbangOptions>;
  readonly onHandled: (messageId: string) => void;
}

export class RunningService {
  readonly database: BenchDatabase;
  readonly instances: readonly Whizbang[];
  /** Of whoever uses the service's database beside it. */
  readonly client: pg.Client;

  private constructor(database: BenchDatabase, instances: readonly Whizbang[], client: pg.Client) {
    this.database = database;
    this.instances = instances;
    this.client = client;
  }

  static async open(server: BenchServer, { instances = 1, ...service }: ServiceOptions) {
    const database = await server.createMigratedDatabase();
    const client = await database.connect();
    const running = Array.from({ length: instances }, () => instanceOn(database, service));
    for (const instance of running) await instance.start();
    return new RunningService(database, running, client);
  }

  /** The one that is asked to publish. */
  get first(): Whizbang {
    return this.instances[0] as Whizbang;
  }

  async close(): Promise<void> {
    for (const instance of this.instances) await instance.stop();
    await this.client.end();
    await this.database.drop();
  }
}

function instanceOn(
  database: BenchDatabase,
  { transactional, options, onHandled }: Omit<ServiceOptions, 'instances'>,
): Whizbang {
  const onPlaced = receptor(OrderPlaced, { transaction: transactional }, async (_, { envelope }) => {
    onHandled(envelope.messageId);
  });
  return createWhizbang({
    service: 'shop',
    connectionString: database.connectionString,
    logger: silentLogger,
    receptors: [onPlaced],
    ...options?.(database),
  } as WhizbangOptions);
}
