// `whizbang events | operations`: what the event store holds, and what operators have done.
import { Command } from 'commander';
import { quoteSchema } from '../../database/index.js';
import { listEvents, listOperations, listPauses } from '../../operate/index.js';
import { jsonOption, position, streamArgument, streamHelp, wholeNumber } from '../arguments.js';
import { plainText } from '../plain-text.js';
import { tableText } from '../table.js';
import { type DatabaseCommandOptions, example, withDatabaseOptions, withSession } from '../with-database.js';

type Options = DatabaseCommandOptions & { readonly json?: boolean; readonly limit: number };

export function eventsCommand(): Command {
  return withDatabaseOptions(new Command('events'))
    .description(
      'Read the event store: one stream by version, or all events by position. Payloads only when asked for.',
    )
    .argument('[stream]', streamHelp, streamArgument)
    .option('--from <number>', 'from this version of the stream, or this position, on', position, 0)
    .option('--limit <count>', 'how many at most', wholeNumber, 50)
    .option('--payload', 'also the payloads, as they are stored: sealed where they are sealed')
    .addOption(jsonOption())
    .addHelpText('after', example('whizbang events order-17 --from 3'))
    .action(async (streamId: string | undefined, options: Options & { from: number; payload?: boolean }) => {
      const { from, limit, payload = false } = options;
      const events = await withSession(options, (db) =>
        listEvents(db, quoteSchema(options.schema), { streamId, from, limit }, payload),
      );
      if (options.json === true) return console.log(JSON.stringify(events, null, 2));
      if (events.length === 0) return console.log('There are no such events.');
      const heads = ['POSITION', 'EVENT', 'STREAM', 'VERSION', 'TYPE', 'AT'];
      const rows = events.map((each) => [
        each.position,
        each.eventId,
        each.streamId,
        each.version,
        plainText(each.type),
        each.at.toISOString(),
        ...(payload ? [plainText(JSON.stringify(each.payload))] : []),
      ]);
      console.log(tableText(payload ? [...heads, 'PAYLOAD'] : heads, rows));
    });
}

export function operationsCommand(): Command {
  return withDatabaseOptions(new Command('operations'))
    .description('Show what is paused, and what operators have done, the newest first.')
    .option('--limit <count>', 'how many at most', wholeNumber, 20)
    .option('--before <number>', 'those before this number: the last one of the page before', position)
    .addOption(jsonOption())
    .addHelpText('after', example('whizbang operations --limit 5'))
    .action(async (options: Options & { before?: number }) => {
      const { limit, before } = options;
      const found = await withSession(options, async (db) => {
        const schema = quoteSchema(options.schema);
        return {
          pauses: await listPauses(db, schema),
          operations: await listOperations(db, schema, { limit, before }),
        };
      });
      if (options.json === true) return console.log(JSON.stringify(found, null, 2));
      for (const { kind, name, since, who, reason } of found.pauses) {
        const why = reason === null ? '' : `: ${reason}`;
        console.log(
          plainText(`Paused: ${`${kind} ${name}`.trim()} since ${since.toISOString()} by ${who}${why}`),
        );
      }
      if (found.operations.length === 0) return console.log('No operator has done anything.');
      const rows = found.operations.map((each) => [
        each.id,
        each.at.toISOString(),
        plainText(each.who),
        each.operation,
        plainText(each.target),
        cut(plainText(JSON.stringify(each.before))),
      ]);
      console.log(tableText(['NUMBER', 'AT', 'WHO', 'OPERATION', 'TARGET', 'BEFORE'], rows));
    });
}

const cut = (text: string) => (text.length > 120 ? `${text.slice(0, 119)}…` : text);
