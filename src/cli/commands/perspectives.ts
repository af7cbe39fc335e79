// `whizbang perspectives`: how they are, what is held, and what to do about it. One function per subcommand.
import { Command, InvalidArgumentError } from 'commander';
import type { HeldStream, PerspectiveStatus } from '../../perspectives/index.js';
import { jsonOption } from '../arguments.js';
import { confirm, yesOption } from '../confirm.js';
import { withPerspectives } from '../perspective-operations.js';
import { tableText } from '../table.js';
import { type DatabaseCommandOptions, example, withDatabaseOptions } from '../with-database.js';

export function perspectivesCommand(): Command {
  return withDatabaseOptions(new Command('perspectives'))
    .description('Show how far the perspectives of a service are, and what holds them up.')
    .option('--json', 'print JSON')
    .enablePositionalOptions()
    .addHelpText('after', example('whizbang perspectives --schema messaging'))
    .action(async (options: DatabaseCommandOptions & { json?: boolean }) => {
      const all = await withPerspectives(options, (perspectives) => perspectives.status());
      console.log(options.json === true ? JSON.stringify(all, null, 2) : statusText(all));
    })
    .addCommand(heldCommand())
    .addCommand(retryCommand())
    .addCommand(skipCommand());
}

const nameHelp = 'a perspective: orders, orders@2, or orders@2.3 for one build';
const streamHelp = 'the id of its stream, the text that it is made from, or the key';

function heldCommand(): Command {
  return withDatabaseOptions(new Command('held'))
    .description('Show the streams that are held in a perspective because an event could not be applied.')
    .argument('<name>', nameHelp)
    .option('--json', 'print JSON')
    .addHelpText('after', example('whizbang perspectives held orders'))
    .action(async (name: string, options: DatabaseCommandOptions & { json?: boolean }) => {
      const held = await withPerspectives(options, (perspectives) => perspectives.held(name));
      console.log(options.json === true ? JSON.stringify(held, null, 2) : heldText(name, held));
    });
}

function retryCommand(): Command {
  return withDatabaseOptions(new Command('retry'))
    .description('Try a held stream again at once.')
    .argument('<name>', nameHelp)
    .argument('<stream>', streamHelp)
    .addOption(jsonOption())
    .addHelpText('after', example('whizbang perspectives retry orders order-1'))
    .action(async (name: string, stream: string, options: DatabaseCommandOptions & { json?: boolean }) => {
      await withPerspectives(options, (perspectives) => perspectives.retry(name, stream));
      const text = `${stream} is tried again in ${name}.`;
      console.log(options.json === true ? JSON.stringify({ done: true, name, stream }) : text);
    });
}

function skipCommand(): Command {
  return withDatabaseOptions(new Command('skip'))
    .description('Pass over the event at which a stream is held. The reason is kept, with who and when.')
    .argument('<name>', nameHelp)
    .argument('<stream>', streamHelp)
    .requiredOption('--version <n>', 'version of the event in its stream, as `held` shows it', wholeNumber)
    .requiredOption('--reason <text>', 'why; it is kept')
    .addOption(yesOption())
    .addOption(jsonOption())
    .addHelpText(
      'after',
      example('whizbang perspectives skip orders order-1 --version 7 --reason "ticket 4711"'),
    )
    .action(async (name: string, stream: string, options: DatabaseCommandOptions & SkipArguments) => {
      const { version, reason } = options;
      const question = `Pass over version ${version} of ${stream} in ${name}? Its models will be without it.`;
      const done = await confirm(question, options);
      if (done)
        await withPerspectives(options, (perspectives) =>
          perspectives.skip(name, stream, { version, reason }),
        );
      const text = done
        ? `Version ${version} of ${stream} is passed over in ${name}.`
        : 'Nothing was changed.';
      console.log(options.json === true ? JSON.stringify({ done, name, stream, version }) : text);
    });
}

interface SkipArguments {
  readonly version: number;
  readonly reason: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

function wholeNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It has to be a whole number.');
}

export function statusText(all: readonly PerspectiveStatus[]): string {
  if (all.length === 0) return 'There are no perspectives.';
  const heads = ['PERSPECTIVE', 'STATE', 'BEHIND', 'SECONDS', 'PER SECOND', 'LEFT', 'HELD', 'WHY'];
  const rows = all.map((each) => [
    `${each.name}@${each.version}${each.build === 1 ? '' : `.${each.build}`}`,
    each.state,
    each.lagEvents,
    each.lagSeconds ?? '?',
    each.rate,
    each.secondsLeft === null ? '?' : `${each.secondsLeft} s`,
    each.held,
    each.cause ?? '',
  ]);
  return tableText(heads, rows);
}

export function heldText(name: string, held: readonly HeldStream[]): string {
  if (held.length === 0) return `Nothing is held in ${name}.`;
  const heads = ['STREAM OR KEY', 'VERSION', 'EVENT', 'ATTEMPTS', 'SINCE', 'AGAIN AT', 'ERROR'];
  const rows = held.map((each) => [
    each.key ?? each.streamId,
    each.version,
    each.event,
    each.attempts,
    each.since.toISOString(),
    each.retryAt?.toISOString() ?? 'when somebody acts',
    each.error.split('\n', 1)[0] ?? '',
  ]);
  return tableText(heads, rows);
}
