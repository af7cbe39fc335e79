import { postgresTransport } from '../../src/index.js';
import type { Transport } from '../../src/transport.js';

/** The PostgreSQL transport as it goes where a call cannot send: what is claimed is transferred by a statement of its own. */
export function patientTransport(): Transport {
  const { sendsDirectly: _, ...transport } = postgresTransport();
  return transport;
}
