import { defaultSchema, type Queryable } from '../database/index.js';
import { WhizbangError } from '../errors.js';
import type { ModelPerspective } from '../fold/index.js';
import { silentLogger } from '../logger.js';
import type { MessageId } from '../message.js';
import type { WhizbangOptions } from '../runtime/index.js';
import { inProcessTransport } from '../transports/index.js';
import { Whizbang } from '../whizbang.js';
import { HoldingPoint } from './holding-point.js';
import { createKitDatabase, type OwnedDatabase } from './kit-database.js';
import type { Stage } from './kit-perspective.js';
import { KitWorker } from './kit-worker.js';
import type { Failure } from './mishaps.js';
import { Outside } from './outside.js';
import { circleOf } from './quiet.js';
import { type Carried, recordingTransport } from './recording-transport.js';
import type { SentMessage } from './sent-messages.js';
import { TestKit } from './test-kit.js';
import type { TestKitOptions } from './test-kit-options.js';

/**
 * The differences from production: tests do not wait where they need not, such as for the work of a dead
 * instance.
 */
const quickly = { pollIntervalMs: 100, takeoverSeconds: 0, stopSeconds: 2, logger: silentLogger };

/** Starts a service on a database of its own. `await using kit = …` stops it and drops the database. */
export async function startTestKit<Tx = Queryable>(options: TestKitOptions<Tx>): Promise<TestKit<Tx>> {
  const { database: which = 'embedded', prepare, schema = defaultSchema } = options;
  const database = await createKitDatabase(which, schema, prepare);
  try {
    return await startOn(database, options);
  } catch (error) {
    await database.drop();
    throw error;
  }
}

async function startOn<Tx>(database: OwnedDatabase, options: TestKitOptions<Tx>): Promise<TestKit<Tx>> {
  const { service, schema = defaultSchema, receptors = [], transport = inProcessTransport() } = options;
  const circle = circleOf(transport);
  refuseNamesake(service, [...circle.members]);
  const sent = new Map<MessageId, SentMessage>();
  const carried: Carried = new Map();
  const onSend = () => circle.noteSend();
  const failures: Failure[] = [];
  const holdingPoint = new HoldingPoint<Tx>();
  const common = {
    ...ofWhizbang(options, database),
    transport: recordingTransport(transport, { sent, carried, onSend }),
  };
  const { pool, connectionString } = database;
  const sender = new Whizbang<Tx>({ ...common, pool });
  const startWorker = () =>
    KitWorker.start<Tx>({
      connectionString,
      whizbang: { ...common, receptors: receptors.map((receptor) => holdingPoint.in(receptor)) },
      onFailure: (failure) => void failures.push(failure),
    });
  const outside = await Outside.connect(service, transport, pool, { carried, onSend });
  const types = new Set(receptors.map(({ definition }) => definition.type));
  const worker = await startWorker();
  return new TestKit<Tx>(
    {
      service,
      schema,
      database,
      transport,
      sender,
      types,
      sent,
      failures,
      outside,
      circle,
      holdingPoint,
      startWorker,
      codes: (options.perspectives ?? []).map(({ name, version }) => `${name}@${version}`),
      openStage: (perspective) => openStage(options, perspective),
    },
    worker,
  );
}

/** A database of its own with one perspective, and nothing that is sent to anybody. */
async function openStage<Tx>(
  options: TestKitOptions<Tx>,
  perspective: ModelPerspective<unknown>,
): Promise<Stage> {
  const { database: which = 'embedded', prepare, schema = defaultSchema } = options;
  const database = await createKitDatabase(which, schema, prepare);
  const { pool, connectionString } = database;
  const common = {
    ...ofWhizbang(options, database),
    receptors: [],
    perspectives: [perspective],
    transport: inProcessTransport(),
  };
  const sender = new Whizbang<Tx>({ ...common, pool });
  return {
    pool,
    schema,
    sender,
    startWorker: () =>
      KitWorker.start<Tx>({ connectionString, whizbang: common, onFailure: () => undefined }),
    close: async () => {
      await sender.stop();
      await database.drop();
    },
  };
}

function ofWhizbang<Tx>(
  options: TestKitOptions<Tx>,
  database: OwnedDatabase,
): Omit<WhizbangOptions<Tx>, 'pool' | 'connectionString'> {
  const { database: _, prepare: __, transaction, ...rest } = options;
  return {
    ...quickly,
    ...rest,
    ...(transaction === undefined ? {} : { transaction: (work) => transaction(work, database) }),
  };
}

function refuseNamesake(service: string, members: readonly { readonly service: string }[]): void {
  if (members.every((member) => member.service !== service)) return;
  throw new WhizbangError('INVALID_OPTION', {
    message: `startTestKit: another kit on this transport has the same service ${service} and another database.`,
    hint: 'Give each service a kit of its own, or each kit a transport.',
    details: { option: 'transport' },
  });
}
