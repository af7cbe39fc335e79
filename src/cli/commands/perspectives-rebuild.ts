// `whizbang perspectives rebuild | switch | diff`: builds of perspectives, begun, watched and compared.
// In: the name of a perspective. Out: a bar on a terminal, plain lines in a pipe, one JSON value per line with --json.
// It does none of the work: running instances that have the code do, and it watches them.
import { createInterface } from 'node:readline/promises';
import { Command } from 'commander';
import pg from 'pg';
import { rebuildPerspective, wantBuild } from '../../coordinator/index.js';
import { defaultSchema, fromDatabaseError, type Queryable, quoteSchema } from '../../database/index.js';
import { WhizbangError } from '../../errors.js';
import { type BuildStatus, diffBuilds, watchBuild } from '../../perspectives/index.js';
import { databaseUrl, databaseUrlOption } from '../database-url.js';
import { example } from '../with-database.js';

interface CommonOptions {
  readonly databaseUrl?: string;
  readonly schema: string;
  readonly json?: true;
}

type Ask = <T>(question: (db: Queryable, schema: string) => Promise<T>) => Promise<T>;

/** Adds the commands about builds to `whizbang perspectives`. */
export function addBuildCommands(perspectives: Command): Command {
  perspectives
    .addCommand(
      command('rebuild', 'Build the models of a perspective again, beside those that queries read.')
        .option('--yes', 'do not ask')
        .option('--beside', 'leave the new models beside when they are built, to be compared')
        .action(async (name: string, options: CommonOptions & { yes?: true; beside?: true }) => {
          await confirm(options.yes, `Rebuild ${name}? Its models are built again from all events.`);
          await withDatabase(options, async (ask) => {
            const request = { name, version: null, switches: options.beside !== true };
            const build = await ask((db, schema) => rebuildPerspective(db, schema, request));
            await watch(ask, build.name, options);
          });
        }),
    )
    .addCommand(
      command('switch', 'Make queries read another build: the one beside, or the one that was live before.')
        .option('--build <name>', 'the build, as orders@1')
        .option('--yes', 'do not ask')
        .action(async (name: string, options: CommonOptions & { yes?: true; build?: string }) => {
          await confirm(options.yes, `Switch ${name} to ${options.build ?? 'its other build'}?`);
          await withDatabase(options, async (ask) => {
            const build = await ask((db, schema) => wantBuild(db, schema, name, options.build ?? null));
            await watch(ask, build, options);
          });
        }),
    )
    .addCommand(
      command('diff', 'Compare the models that queries read with those of another build.')
        .option('--build <name>', 'the build to compare with, as orders@2')
        .option('--limit <count>', 'how many to print at most', '20')
        .action(async (name: string, options: CommonOptions & { build?: string; limit: string }) => {
          await withDatabase(options, (ask) => printDifferences(ask, name, options));
        }),
    );
  return perspectives;
}

function command(verb: string, description: string): Command {
  return new Command(verb)
    .description(description)
    .argument('<name>', 'the perspective')
    .addOption(databaseUrlOption())
    .option('--schema <name>', 'schema of the service', defaultSchema)
    .option('--json', 'print JSON')
    .addHelpText('after', example(`whizbang perspectives ${verb} orders`));
}

async function withDatabase(options: CommonOptions, work: (ask: Ask) => Promise<void>): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl(options) });
  try {
    await client.connect();
    await work((question) => question(client as Queryable, quoteSchema(options.schema)));
  } catch (error) {
    throw fromDatabaseError(error);
  } finally {
    await client.end();
  }
}

/** Asks on a terminal. Elsewhere nobody can answer. */
async function confirm(yes: true | undefined, question: string): Promise<void> {
  if (yes === true) return;
  if (process.stdin.isTTY === true) {
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    const answer = await terminal.question(`${question} [y/N] `);
    terminal.close();
    if (/^y(es)?$/i.test(answer.trim())) return;
  }
  throw new WhizbangError('INVALID_OPTION', {
    message: `Nothing was done. ${question}`,
    hint: 'Give --yes to do it without being asked.',
    details: { option: '--yes' },
  });
}

async function watch(ask: Ask, build: string, { json }: CommonOptions): Promise<void> {
  const hasBar = json !== true && process.stdout.isTTY === true;
  let lastPercent = -10;
  for await (const status of watchBuild(ask, build)) {
    const percent = Math.floor(status.share * 100);
    if (json === true) console.log(JSON.stringify(status));
    else if (hasBar) process.stdout.write(`\r\u001B[K${barOf(status)}`);
    else if (percent >= lastPercent + 10 || status.isReady) {
      console.log(lineOf(status));
      lastPercent = percent;
    }
  }
  if (hasBar) process.stdout.write('\n');
}

const barWidth = 30;

export function barOf(status: BuildStatus): string {
  const full = Math.round(status.share * barWidth);
  return `[${'█'.repeat(full)}${'░'.repeat(barWidth - full)}] ${lineOf(status)}`;
}

export function lineOf({
  build,
  state,
  share,
  secondsLeft,
  eventsPerSecond,
  held,
  instances,
  isReady,
}: BuildStatus): string {
  const heldText = held === 0 ? '' : `, ${held} held`;
  if (isReady) return `${build} is ${state === 'live' ? 'live' : `ready, ${state}`}${heldText}.`;
  if (instances === 0) return `${build} waits: no running instance has its code${heldText}.`;
  const left = secondsLeft === null ? '' : `, about ${secondsLeft} s left`;
  return `${build} ${Math.floor(share * 100)} %, ${Math.round(eventsPerSecond)} events/s${left}${heldText}`;
}

async function printDifferences(
  ask: Ask,
  name: string,
  { build, limit, json }: CommonOptions & { build?: string; limit: string },
): Promise<void> {
  const most = Number(limit);
  if (!Number.isInteger(most) || most < 1) {
    throw new WhizbangError('INVALID_OPTION', {
      message: `--limit ${limit} is not a number of models.`,
      hint: 'Give a whole number from 1 on.',
      details: { option: '--limit' },
    });
  }
  const found = await diffBuilds(ask, name, { build, limit: most });
  if (json === true) {
    console.log(JSON.stringify(found));
    return;
  }
  for (const { id, version, otherVersion, model, otherModel } of found.models) {
    console.log(`${id}`);
    console.log(`  ${found.build} (version ${version ?? '–'}): ${JSON.stringify(model)}`);
    console.log(`  ${found.other} (version ${otherVersion ?? '–'}): ${JSON.stringify(otherModel)}`);
  }
  const more = found.after === undefined ? '' : ', and there may be more';
  const count = found.models.length;
  console.log(
    count === 0
      ? `${found.build} and ${found.other} are equal.`
      : `${count} model${count === 1 ? '' : 's'} differ${count === 1 ? 's' : ''}${more}.`,
  );
}
