// `whizbang relay`: runs until a signal. Exit codes: 0 stopped by a signal; 2 a flag, a variable or the file is wrong;
// 1 the database or the broker refuses it; 128 and the number of the signal when a second one came.
import { constants } from 'node:os';
import { Command, Option } from 'commander';
import { WhizbangError } from '../../errors.js';
import { type GivenSettings, resolveSettings, runRelay, settingNames } from '../../relay/index.js';
import { type Scheme, schemes } from '../../transport-of-url.js';
import { reportError } from '../report-error.js';

/** `known`: schemes of URLs and their transports; tests have one of their own. */
export function relayCommand(known: Readonly<Record<string, Scheme>> = schemes): Command {
  const command = new Command('relay')
    .description('Publish the outbox of a service, and bring messages of a broker into its inbox.')
    .option('--config <file>', 'JSON file with settings (or WHIZBANG_CONFIG)')
    .option('--json', 'print JSON, which it always does')
    .addHelpText(
      'after',
      '\nA flag comes before its environment variable, and that before the file.\n' +
        'Example:\n  $ whizbang relay --service orders --to amqp://localhost --health-port 8080',
    )
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
    .action(async ({ json: _, ...flags }: GivenSettings & { readonly json?: true }) =>
      process.exit(await run(flags, known)),
    );
  for (const [key, { flag, value, variable, help }] of Object.entries(settingNames)) {
    const option = new Option(`${flag} <${value}>`, `${help} (or ${variable})`);
    if (key === 'listen')
      option.argParser<readonly string[] | undefined>((address, before) => [...(before ?? []), address]);
    command.addOption(option);
  }
  return command;
}

async function run(flags: GivenSettings, known: Readonly<Record<string, Scheme>>): Promise<number> {
  process.stdout.on('error', () => {}); // who read the log is gone: no reason to stop publishing
  try {
    const settings = resolveSettings(flags, process.env);
    const write = (line: string) => void process.stdout.write(line);
    await runRelay(settings, { schemes: known, signal: stopSignal(), write });
    return 0;
  } catch (error) {
    reportError(error);
    return error instanceof WhizbangError && error.code === 'INVALID_OPTION' ? 2 : 1;
  }
}

/** Aborted by the first SIGTERM or SIGINT. The second one ends the process at once. */
function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.on(name, () => {
      if (stop.signal.aborted) process.exit(128 + constants.signals[name]);
      stop.abort();
    });
  }
  return stop.signal;
}
