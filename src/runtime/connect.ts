// The first steps of a start: the engine is looked at, and the transport connected.
// In: the parts of an instance. Out: its connection, and who is told of its state. Called by Whizbang.start.
import { checkEngine, connectMs, withPooledClient } from '../database/index.js';
import type { TransportConnection } from '../transports/index.js';
import { packageVersion } from '../version.js';
import type { Parts } from './assemble.js';
import { TransportReadiness } from './transport-readiness.js';
import { UnheardTypes } from './unheard-types.js';

export async function connect<Tx>(
  parts: Parts<Tx>,
): Promise<{ readonly connection: TransportConnection; readonly transportState: TransportReadiness }> {
  const { database, coordinator, transport, schema, logger, events } = parts;
  const { pool } = database;
  await parts.telemetry.loading;
  database.keep();
  const unknownEngine = await withPooledClient(pool, checkEngine, connectMs);
  if (unknownEngine !== undefined)
    logger.warn({ version: unknownEngine }, 'The engine of this database is not known to work');
  const transportState = new TransportReadiness(events, logger);
  const { onState } = transportState;
  const unheard = new UnheardTypes(logger, events);
  const onUnheard = (type: string, count: number) => unheard.add(type, count);
  const host = { instance: coordinator.instance, pool, schema, logger, onState, onUnheard };
  return { connection: await transport.connect(host), transportState };
}

/** Lets an operator match a row of `wh_service_instances` to its process. */
export function logLife<Tx>({ logger, schema, coordinator, database }: Parts<Tx>, what: string): void {
  const { serviceName: service, metadata: _, ...instance } = coordinator.instance;
  const facts = { service, schema, ...instance, concurrency: database.concurrency };
  logger.info({ ...facts, version: packageVersion }, what);
}
