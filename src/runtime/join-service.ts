import type { WorkCoordinator } from '../coordinator/index.js';
import { type ConnectionPool, withPooledClient } from '../database/index.js';

/** It waits for others who join at this moment, and for nobody else. */
const answerMs = 10_000;

/** A schema has one service. Fails when an instance of another one runs in it, also when both start at once. */
export async function joinService(parts: {
  readonly pool: ConnectionPool;
  /** Quoted. */
  readonly schema: string;
  readonly coordinator: WorkCoordinator;
}): Promise<void> {
  const text = `select ${parts.schema}.wh_join_service(p_instance_id => $1::uuid)`;
  const { instanceId } = parts.coordinator.instance;
  await withPooledClient(parts.pool, (client) => client.query(text, [instanceId]), answerMs);
}
