// Serves the page for operators from the command line. In: the options of the page, a port and an address. Out: where it is.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, isIP } from 'node:net';
import { InvalidArgumentError } from 'commander';
import { type DashboardOptions, dashboard } from '../dashboard/index.js';
import { consoleLogger } from '../logger.js';
import { invalidOption } from '../options.js';

interface ServeOptions extends DashboardOptions {
  readonly host: string;
  readonly port: number;
  /** The option of the command that names the port. */
  readonly portOption: string;
}

interface ServedPage {
  readonly url: string;
  readonly close: () => Promise<void>;
}

export async function servePage({ host, port, portOption, ...options }: ServeOptions): Promise<ServedPage> {
  // Whoever acts is on record.
  const info = (facts: object, message: string) =>
    console.log(JSON.stringify({ at: new Date(), message, ...facts }));
  const page = dashboard({ ...options, logger: { ...consoleLogger, info } });
  const server = createServer((request, response) => void page.handle(request, response));
  server.listen(port, host);
  await once(server, 'listening').catch(async (cause: NodeJS.ErrnoException) => {
    await page.close();
    const fact = `port ${port} cannot be opened on ${host} (${cause.code})`;
    const hint = `Give another ${portOption}, or end the process that has it.`;
    throw invalidOption('dashboard', portOption, fact, hint);
  });
  const { port: opened } = server.address() as AddressInfo;
  const name = isIP(host) === 6 ? `[${host}]` : host;
  return {
    url: `http://${name}:${opened}/`,
    close: async () => {
      server.close();
      await page.close();
      server.closeAllConnections();
    },
  };
}

export function portNumber(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError('It has to be a number from 0 to 65535.');
}
