// `whizbang dev`: a database for development, migrated, kept between runs, and the page over it.
// In: a folder. Out: the connection string, the address of the page, and both until SIGINT or SIGTERM.
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { defaultSchema } from '../../database/index.js';
import { startEmbeddedPostgres } from '../../embedded/index.js';
import { migrate } from '../../migrate/index.js';
import { jsonOption } from '../arguments.js';
import { databaseUrlOption } from '../database-url.js';
import { interruption } from '../interruption.js';
import { portNumber, servePage } from '../serve-page.js';
import { example } from '../with-database.js';
import { describe } from './migrate.js';

interface DevOptions {
  readonly databaseUrl?: string;
  readonly schema: string;
  readonly dataDir: string;
  readonly port: number;
  /** False: `--no-page`. */
  readonly page: boolean;
  readonly pagePort: number;
  readonly json?: boolean;
}

const longMs = 1_000_000_000;

export function devCommand(): Command {
  return new Command('dev')
    .description(
      'Run a PostgreSQL for development, migrated, with the page over it, until interrupted. Its data stay.',
    )
    .addOption(databaseUrlOption().default(undefined, 'a server of its own'))
    .option('--schema <name>', 'schema to install into', defaultSchema)
    .option('--data-dir <folder>', 'where its data are kept', '.whizbang/dev')
    .option('--port <number>', 'its port on 127.0.0.1; 0: any free one', portNumber, 54_329)
    .option('--page-port <number>', 'port of the page on 127.0.0.1; 0: any free one', portNumber, 4_600)
    .option('--no-page', 'without the page')
    .addOption(jsonOption())
    .addHelpText('after', example('whizbang dev --data-dir ~/.whizbang/shop'))
    .action(async (options: DevOptions) => {
      const signal = interruption();
      const dataDir = resolve(options.dataDir);
      const server =
        options.databaseUrl === undefined
          ? await startEmbeddedPostgres({ dataDir, port: options.port })
          : undefined;
      let page: Awaited<ReturnType<typeof openPage>> | undefined;
      try {
        const connectionString = options.databaseUrl ?? server?.connectionString ?? '';
        const report = await migrate({ connectionString, schema: options.schema });
        if (options.page) page = await openPage(connectionString, options);
        if (options.json === true) {
          const kept = server === undefined ? {} : { dataDir, version: server.version };
          const { schema } = options;
          console.log(JSON.stringify({ connectionString, schema, ...kept, page: page?.address }));
        } else {
          if (server !== undefined) console.log(`PostgreSQL ${server.version}, its data in ${dataDir}`);
          console.log(describe(report));
          console.log(`DATABASE_URL=${connectionString}`);
          if (page !== undefined) console.log(`The page: ${page.address}`);
          console.log('It runs until it is interrupted (Ctrl-C).');
        }
        while (!signal.aborted) await sleep(longMs, undefined, { signal }).catch(() => {});
      } finally {
        await page?.close();
        await server?.stop();
      }
    });
}

/** On this machine only, with a secret that is new each time. Behind the `#` it goes to no server and into no log. */
async function openPage(connectionString: string, { schema, pagePort }: DevOptions) {
  const token = randomBytes(24).toString('base64url');
  const { url, close } = await servePage({
    connectionString,
    schemas: [schema],
    token,
    allowActions: true,
    host: '127.0.0.1',
    port: pagePort,
    portOption: '--page-port',
  });
  return { address: `${url}#token=${token}`, close };
}
