// `whizbang tail`: what happens in a service, a line each, until interrupted.
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { quoteSchema } from '../../database/index.js';
import { Watch } from '../../operate/index.js';
import { jsonOption, wholeNumber } from '../arguments.js';
import { interruption } from '../interruption.js';
import { plainText } from '../plain-text.js';
import { type DatabaseCommandOptions, example, withDatabaseOptions, withSession } from '../with-database.js';

interface TailOptions extends DatabaseCommandOptions {
  readonly json?: boolean;
  readonly interval: number;
  readonly limit?: number;
}

export function tailCommand(): Command {
  return withDatabaseOptions(new Command('tail'))
    .description(
      'Print failures, dead letters, lost leases, broken order, instances and operations as they happen, until interrupted.',
    )
    .option('--interval <seconds>', 'how often to look', seconds, 1)
    .option('--limit <count>', 'end after so many lines', wholeNumber)
    .addOption(jsonOption())
    .addHelpText('after', example('whizbang tail --json | jq -r .text'))
    .action(async (options: TailOptions) => {
      const signal = interruption();
      await withSession(options, async (db) => {
        const watch = new Watch(db, quoteSchema(options.schema));
        for (let left = options.limit ?? Number.POSITIVE_INFINITY; left > 0 && !signal.aborted; ) {
          for (const happening of (await watch.look()).slice(0, left)) {
            left--;
            const { at, kind, text } = happening;
            console.log(
              options.json === true ? JSON.stringify(happening) : plainText(`${at} ${kind} ${text}`),
            );
          }
          if (left > 0) await sleep(options.interval * 1_000, undefined, { signal }).catch(() => {});
        }
      });
    });
}

function seconds(text: string): number {
  const value = Number(text);
  if (value >= 0.1 && value <= 3_600) return value;
  throw new InvalidArgumentError('It has to be a number of seconds, from 0.1 to 3600.');
}
