// `whizbang dashboard`: serves the page for operators until a signal. It listens on this machine only, unless it has a token.
import { once } from 'node:events';
import { Command } from 'commander';
import { defaultSchema } from '../../database/index.js';
import { invalidOption } from '../../options.js';
import { databaseUrl, databaseUrlOption } from '../database-url.js';
import { portNumber, servePage } from '../serve-page.js';
import { example } from '../with-database.js';

interface Options {
  readonly databaseUrl?: string;
  readonly schema?: readonly string[];
  readonly port: number;
  readonly host: string;
  readonly token?: string;
  readonly allowActions?: boolean;
  readonly mask?: boolean;
  readonly traceUrl?: string;
  readonly json?: boolean;
}

export function dashboardCommand(): Command {
  return new Command('dashboard')
    .description(
      'Serve a page that shows a service live: instances, partitions, streams, messages, dead letters.',
    )
    .addOption(databaseUrlOption())
    .option(
      '--schema <name>',
      `schema of a service; give it again for each further one (default: "${defaultSchema}")`,
      listed,
    )
    .option('--port <number>', 'port to listen on; 0: any that is free', portNumber, 4_600)
    .option('--host <address>', 'address to listen on; another than this machine needs a token', '127.0.0.1')
    .option(
      '--token <secret>',
      'secret that opens the page (or WHIZBANG_DASHBOARD_TOKEN, which no list of processes shows)',
    )
    .option('--allow-actions', 'allow to retry, discard, give up, release, pause; else the page is read-only')
    .option('--mask', 'never show a payload')
    .option('--trace-url <link>', 'link to a trace, with {traceId} in it')
    .option('--json', 'print its address as JSON')
    .addHelpText('after', example('whizbang dashboard --schema orders --schema billing --allow-actions'))
    .action(serve);
}

async function serve(options: Options): Promise<void> {
  const { host, port, allowActions = false, mask = false, traceUrl } = options;
  const token = options.token ?? (process.env.WHIZBANG_DASHBOARD_TOKEN || undefined);
  if (token === undefined && !isLoopback(host)) {
    const hint = 'Give --token with a long random secret, or listen on 127.0.0.1.';
    throw invalidOption(
      'dashboard',
      '--token',
      `${host} can be reached by others, and there is no token`,
      hint,
    );
  }
  const page = await servePage({
    connectionString: databaseUrl(options),
    schemas: options.schema ?? [defaultSchema],
    allowActions,
    mask,
    traceUrl,
    token,
    host,
    port,
    portOption: '--port',
  });
  const text = `${page.url} ${allowActions ? '(actions allowed)' : '(read-only)'}`;
  console.log(options.json === true ? JSON.stringify({ url: page.url, allowActions }) : text);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  await page.close();
}

const isLoopback = (host: string) => /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/i.test(host);

const listed = (name: string, before: readonly string[] | undefined) => [...(before ?? []), name];
