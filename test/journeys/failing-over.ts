import { migrate } from '../../src/migrate/index.js';
import { startTcpProxy } from '../coordinator/tcp-proxy.js';
import { startPostgresPair } from '../crashes/support/postgres-pair.js';
import type { Accident } from './journey.js';

/** A migrated database with a synchronous standby, behind an address that moves. It can fail over once. */
interface FailingOver extends AsyncDisposable {
  readonly connectionString: string;
  /** The primary crashes, the standby takes its place, and the address moves to it. */
  readonly accident: Accident;
}

export async function startFailingOver(whose: string): Promise<FailingOver> {
  const pair = await startPostgresPair((connectionString) => migrate({ connectionString }));
  const address = await startTcpProxy(pair.primary);
  return {
    connectionString: address.connectionString,
    accident: {
      name: `the ${whose}'s database failed over`,
      happen: async () => {
        await pair.crashPrimary();
        await pair.promoteStandby();
        address.moveTo(pair.standby, 'cut');
      },
    },
    [Symbol.asyncDispose]: async () => {
      await address[Symbol.asyncDispose]();
      await pair[Symbol.asyncDispose]();
    },
  };
}
