import { tmpdir } from 'node:os';
import { WhizbangError } from '../errors.js';
import { locateBinaries, refuseWindows } from './binaries.js';
import { keptDataDir, temporaryDataDir } from './data-dir.js';
import { type EmbeddedPostgresOptions, resolveEmbeddedOptions } from './embedded-options.js';
import { serverIdentity } from './identity.js';
import { findFreePort, isPortFree } from './port.js';
import { launchServer, type ServerPlan, type ServerProcess } from './server-process.js';
import { readPassword } from './template.js';
import { openWorkspace, sweep } from './workspace.js';

/** A running PostgreSQL that belongs to this process. */
export interface EmbeddedPostgres extends AsyncDisposable {
  /** The URL of the database `postgres` for the superuser `postgres`. */
  readonly connectionString: string;
  readonly port: number;
  /** The server's version, such as `18.4`. */
  readonly version: string;
  readonly dataDir: string;
  /** Ends all connections, stops the server and removes a temporary data directory. May be called twice. */
  stop(): Promise<void>;
  /** Stops and starts again, on the same port with the same data; with `crash`, without an orderly shutdown. */
  restart(options?: { readonly crash?: boolean }): Promise<void>;
}

const portAttempts = 5;

/**
 * Starts a real PostgreSQL for development and tests: about a second the first time. It ends with this
 * process.
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions = {},
): Promise<EmbeddedPostgres> {
  const { dataDir, tempDir, port, settings, binDir } = resolveEmbeddedOptions(options);
  refuseWindows();
  // Programs and template are always in the system's temporary folder: a folder in memory may forbid running
  // programs.
  const workspace = await openWorkspace(tmpdir());
  const temporary = tempDir === undefined ? workspace : await openWorkspace(tempDir);
  const identity = await serverIdentity(dataDir);
  await Promise.all([...new Set([workspace, temporary])].map(sweep));
  const binaries = await locateBinaries(binDir, workspace, identity);
  const data =
    dataDir === undefined
      ? await temporaryDataDir(temporary, binaries, workspace, identity)
      : await keptDataDir(dataDir, binaries, workspace, identity);
  try {
    const password = await readPassword(data.path);
    const { plan, server } = await launchOnFreePort({ binaries, data, identity, port, settings });
    return runningServer(plan, server, password);
  } catch (error) {
    await data.release();
    throw error;
  }
}

/** Launches on a free port, and retries: another process may take the port before the server binds it. */
async function launchOnFreePort(wanted: ServerPlan): Promise<{ plan: ServerPlan; server: ServerProcess }> {
  for (let attempt = 1; ; attempt++) {
    const plan = wanted.port === 0 ? { ...wanted, port: await findFreePort() } : wanted;
    try {
      return { plan, server: await launchServer(plan) };
    } catch (error) {
      const wasTaken = wanted.port === 0 && !(await isPortFree(plan.port));
      if (!wasTaken || attempt === portAttempts) throw error;
    }
  }
}

function runningServer(
  plan: ServerPlan,
  first: ServerProcess,
  password: string | undefined,
): EmbeddedPostgres {
  const { port, data, binaries } = plan;
  const credentials = password === undefined ? 'postgres' : `postgres:${password}`;
  let server = first;
  let stopped: Promise<void> | undefined;

  const stop = (): Promise<void> => {
    stopped ??= server.stopGently().then(() => data.release());
    return stopped;
  };
  return {
    connectionString: `postgres://${credentials}@127.0.0.1:${port}/postgres`,
    port,
    version: binaries.version,
    dataDir: data.path,
    stop,
    restart: async ({ crash = false } = {}) => {
      if (stopped !== undefined) {
        throw new WhizbangError('EMBEDDED_START_FAILED', {
          message: `The embedded database in ${data.path} was stopped and cannot be restarted.`,
          hint: 'Start a new one with startEmbeddedPostgres().',
        });
      }
      await server.stop(crash ? 'SIGQUIT' : 'SIGINT');
      server = await launchServer(plan);
    },
    [Symbol.asyncDispose]: stop,
  };
}
