// `whizbang status | instances | streams`: what runs and what waits, once or again and again.
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, Option } from 'commander';
import { type InstanceStatus, Operator, type ServiceStatus, type StreamStatus } from '../../operate/index.js';
import { streamArgument, wholeNumber } from '../arguments.js';
import { plainText } from '../plain-text.js';
import { ago, since, until } from '../spans.js';
import { tableText } from '../table.js';
import { type DatabaseCommandOptions, example, withDatabaseOptions, withSession } from '../with-database.js';

type Options = DatabaseCommandOptions & { readonly json?: boolean };

const clearScreen = '\u001b[H\u001b[2J';
const watchMs = 2_000;

export function statusCommand(): Command {
  return withDatabaseOptions(new Command('status'))
    .description('Show what runs and what waits in a service.')
    .option('--watch', 'show it again every two seconds, until interrupted')
    .option('--json', 'print JSON; with --watch one line each time')
    .addHelpText('after', example('whizbang status --schema messaging'))
    .action((options: Options & { watch?: boolean }) =>
      withSession(options, async (db) => {
        const operator = new Operator(db, options.schema);
        for (;;) {
          const status = await operator.status();
          const text = options.json === true ? JSON.stringify(status) : statusText(status);
          const redraws = options.watch === true && process.stdout.isTTY && options.json !== true;
          console.log(redraws ? `${clearScreen}${text}` : text);
          if (options.watch !== true) return;
          await sleep(watchMs);
        }
      }),
    );
}

export function instancesCommand(): Command {
  return withDatabaseOptions(new Command('instances'))
    .description(
      'Show the instances of a service: alive or stale, their share, their room, what they have done.',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', example('whizbang instances'))
    .action(async (options: Options) => {
      const all = await withSession(options, (db) => new Operator(db, options.schema).instances());
      console.log(options.json === true ? JSON.stringify(all, null, 2) : instancesText(all, new Date()));
    });
}

export function streamsCommand(): Command {
  return withDatabaseOptions(new Command('streams'))
    .description('Show streams that have unfinished work, those that wait longest first.')
    .argument('[stream]', 'one stream: its id, or the text that it is made from')
    .addOption(new Option('--lane <lane>', 'of one lane only').choices(['outbox', 'inbox']))
    .option('--limit <count>', 'how many at most', wholeNumber, 20)
    .option('--json', 'print JSON')
    .addHelpText('after', example('whizbang streams --lane inbox --limit 10'))
    .action(
      async (stream: string | undefined, options: Options & { lane?: 'outbox' | 'inbox'; limit: number }) => {
        const { lane, limit } = options;
        const streamId = stream === undefined ? undefined : streamArgument(stream);
        const found = await withSession(options, (db) =>
          new Operator(db, options.schema).streams({ lane, streamId, limit }),
        );
        if (options.json === true) console.log(JSON.stringify(found, null, 2));
        else if (stream !== undefined && found.length === 0)
          console.log(plainText(`Stream ${stream} has no unfinished work.`));
        else console.log(streamsText(found, new Date()));
      },
    );
}

function statusText({ at, schema, lanes, pauses, instances }: ServiceStatus): string {
  const living = instances.filter((each) => !each.isStale);
  const lines = tableText(
    [
      'LANE',
      'DUE',
      'OLDEST',
      'RUNNING',
      'SCHEDULED',
      'NEXT',
      'LIMITED',
      'PAUSED',
      'NO HANDLER',
      'NEW',
      'DEAD',
    ],
    lanes.map((lane) => [
      lane.lane,
      capped(lane.dueStreams),
      lane.oldestDueAt === null ? '' : ago(lane.oldestDueAt, at),
      capped(lane.leasedStreams),
      capped(lane.scheduledStreams),
      lane.nextScheduledAt === null ? '' : until(lane.nextScheduledAt, at),
      capped(lane.limitedStreams),
      capped(lane.pausedStreams),
      capped(lane.unhandledStreams),
      capped(lane.unadmittedMessages),
      capped(lane.deadLetters),
    ]),
  );
  const stale = instances.length - living.length;
  return [
    `${schema} at ${at.toISOString()}: ${living.length} ${living.length === 1 ? 'instance' : 'instances'}${stale > 0 ? `, ${stale} stale` : ''}`,
    'Streams, and new messages:',
    lines,
    ...pauses.map(({ kind, name, since, who }) =>
      plainText(`Paused by ${who} ${ago(since, at)}: ${kind} ${name}`.trim()),
    ),
    instances.length === 0 ? 'No instance is running.' : instancesText(instances, at),
  ].join('\n');
}

function instancesText(all: readonly InstanceStatus[], at: Date): string {
  if (all.length === 0) return 'No instance is running.';
  return tableText(
    [
      'INSTANCE',
      'HOST',
      'PROCESS',
      'VERSION',
      'HEARD',
      'SHARE',
      'OUTBOX ROOM',
      'INBOX ROOM',
      'HANDLED',
      'FAILED',
      'PUBLISHED',
    ],
    all.map((each) => [
      each.instanceId,
      plainText(each.host),
      each.processId,
      plainText(each.version ?? '?'),
      each.isStale ? `stale, ${ago(each.lastHeartbeatAt, at)}` : ago(each.lastHeartbeatAt, at),
      each.inboxShare === null ? '' : `${Math.round(each.inboxShare * 100)} %`,
      each.outboxRoom ?? '?',
      each.inboxRoom ?? '?',
      each.handled ?? '?',
      each.failed ?? '?',
      each.published ?? '?',
    ]),
  );
}

function streamsText(all: readonly StreamStatus[], at: Date): string {
  if (all.length === 0) return 'No stream has unfinished work.';
  return tableText(
    ['LANE', 'STREAM', 'STATE', 'SINCE OR UNTIL', 'DEPTH', 'FIRST', 'TYPE', 'ATTEMPTS', 'ERROR OR HOLDER'],
    all.map((each) => [
      each.lane,
      each.streamId,
      each.state,
      each.dueAt === null
        ? each.leaseExpiry === null
          ? ''
          : until(each.leaseExpiry, at)
        : since(each.dueAt, at),
      each.depth > 1_000 ? 'over 1000' : each.depth,
      each.firstMessageId ?? '',
      plainText(each.firstType ?? ''),
      each.firstAttempts ?? '',
      plainText(each.waitsFor?.replace('\u001f', ' for the key ') ?? each.firstError ?? each.heldBy ?? ''),
    ]),
  );
}

/** The views count up to 10 001. */
const capped = (count: number) => (count > 10_000 ? 'over 10000' : count);
