// `whizbang dead-letters list | show | retry | discard`: what was given up, and what becomes of it.
import { Command } from 'commander';
import { discardDeadLetters, listDeadLetters, retryDeadLetters } from '../../coordinator/index.js';
import { fromDatabaseError, type Queryable, quoteSchema } from '../../database/index.js';
import { WhizbangError } from '../../errors.js';
import { countDeadLetters, findDeadLetterHead, listDeadLetterHeads } from '../../operate/index.js';
import { type ActOptions, nothingToDo, whoOf, withActOptions } from '../act.js';
import { jsonOption, position, streamArgument, streamHelp, uuid, wholeNumber } from '../arguments.js';
import { confirm } from '../confirm.js';
import { plainText } from '../plain-text.js';
import { Progress } from '../progress.js';
import { tableText } from '../table.js';
import { type DatabaseCommandOptions, example, withDatabaseOptions, withSession } from '../with-database.js';

type LookOptions = DatabaseCommandOptions & { readonly json?: boolean };
type Filter = { readonly stream?: string; readonly type?: string };

export function deadLettersCommand(): Command {
  return new Command('dead-letters')
    .description('Messages that were given up: list them, show one, put them back, discard them.')
    .enablePositionalOptions()
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(retryCommand())
    .addCommand(discardCommand());
}

function listCommand(): Command {
  return withFilter(withDatabaseOptions(new Command('list')))
    .description('List dead letters, the newest first, without payloads.')
    .option('--limit <count>', 'how many at most', wholeNumber, 20)
    .option('--before <number>', 'those before this number: the last one of the page before', position)
    .addOption(jsonOption())
    .addHelpText('after', example('whizbang dead-letters list --type ChargeCard'))
    .action(async (options: LookOptions & Filter & { limit: number; before?: number }) => {
      const { limit, before, type } = options;
      const letters = await withSession(options, (db) =>
        listDeadLetterHeads(
          db,
          quoteSchema(options.schema),
          { streamId: options.stream, type },
          { limit, before },
        ),
      );
      if (options.json === true) return console.log(JSON.stringify(letters, null, 2));
      if (letters.length === 0) return console.log('There are no dead letters.');
      const rows = letters.map((each) => [
        each.number,
        each.messageId,
        each.lane,
        plainText(each.type),
        each.streamId ?? '',
        each.attempts,
        each.diedAt.toISOString(),
        plainText(each.error ?? ''),
      ]);
      console.log(
        tableText(['NUMBER', 'MESSAGE', 'LANE', 'TYPE', 'STREAM', 'ATTEMPTS', 'DIED', 'ERROR'], rows),
      );
    });
}

function showCommand(): Command {
  return withDatabaseOptions(new Command('show'))
    .description('Show a dead letter. Its payload and its whole story only when asked for.')
    .argument('<message>', 'the id of the message', uuid)
    .option('--payload', 'also its payload, its scope and its failures')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      example('whizbang dead-letters show 0192f0c1-7d3a-7c53-9f0e-5b0c5d1f2a11 --payload'),
    )
    .action(async (messageId: string, options: LookOptions & { payload?: boolean }) => {
      const letter = await withSession(options, async (db) => {
        const schema = quoteSchema(options.schema);
        const head = await findDeadLetterHead(db, schema, messageId);
        if (head === undefined || options.payload !== true) return head;
        const [whole] = await listDeadLetters(db, schema, { messageId }, { limit: 1 });
        const { event_data: payload, scope, error, failures } = whole ?? {};
        return { ...head, error, payload, scope, failures };
      });
      if (letter === undefined) {
        console.log(options.json === true ? 'null' : `Message ${messageId} is no dead letter.`);
        process.exitCode = nothingToDo;
      } else if (options.json === true) console.log(JSON.stringify(letter, null, 2));
      else for (const [key, value] of Object.entries(letter)) console.log(`${key}: ${shown(value)}`);
    });
}

function retryCommand(): Command {
  return picking(
    'retry',
    'Put dead letters back at the end of their streams, in the order in which they were stored.',
  )
    .addHelpText('after', example('whizbang dead-letters retry --stream order-17 --dry-run'))
    .action((messageId: string | undefined, options: ActOptions & Filter) =>
      pickAll(retryDeadLetters, 'put back', messageId, options),
    );
}

function discardCommand(): Command {
  return picking('discard', 'Delete dead letters, for ever.')
    .addHelpText('after', example('whizbang dead-letters discard --type ChargeCard --yes'))
    .action((messageId: string | undefined, options: ActOptions & Filter) =>
      pickAll(discardDeadLetters, 'discarded', messageId, options),
    );
}

const picking = (verb: string, description: string) =>
  withFilter(withActOptions(new Command(verb)))
    .description(description)
    .argument('[message]', 'the id of a message', uuid);

const withFilter = (command: Command) =>
  command
    .option('--stream <stream>', streamHelp, streamArgument)
    .option('--type <type>', 'the type of the messages');

const pageSize = 1_000;
const mostCounted = 100_000;
/** Those of one stream go together, so that they keep their order. */
const streamSize = 100_000;

/** How many there are, in words. Undefined: this role may act on them, and not look at the list. */
async function totalOf(
  db: Queryable,
  schema: string,
  choice: Parameters<typeof countDeadLetters>[2],
): Promise<string | undefined> {
  try {
    const count = await countDeadLetters(db, schema, choice, mostCounted + 1);
    return count > mostCounted ? `more than ${mostCounted}` : String(count);
  } catch (error) {
    const known = fromDatabaseError(error);
    if (known.code === 'PERMISSION_DENIED') return undefined;
    throw known;
  }
}

async function pickAll(
  pick: typeof retryDeadLetters,
  verb: string,
  messageId: string | undefined,
  options: ActOptions & Filter,
): Promise<void> {
  const { stream: streamId, type, dryRun = false, json } = options;
  const which = [
    messageId && `of message ${messageId}`,
    streamId && `of stream ${streamId}`,
    type && `of type ${type}`,
  ]
    .filter(Boolean)
    .join(', ');
  if (which === '') throw notSaid();
  if (!dryRun && !(await confirm(`Shall the dead letters ${which} be ${verb}?`, options))) {
    console.log(
      json === true ? JSON.stringify({ done: false, dryRun, letters: [] }) : 'Nothing was changed.',
    );
    return;
  }
  const letters = await withSession(options, async (db) => {
    const picked = [];
    const progress = new Progress(`dead letters ${verb}`);
    const limit = streamId === undefined ? pageSize : streamSize;
    if (progress.isShown && messageId === undefined)
      progress.total = await totalOf(db, quoteSchema(options.schema), { streamId, type });
    progress.show(0);
    for (let after = 0; ; ) {
      const choice = { messageId, streamId, type } as Parameters<typeof pick>[2];
      const page = await pick(db, quoteSchema(options.schema), choice, {
        dryRun,
        after,
        limit,
        who: whoOf(options),
      });
      picked.push(...page);
      progress.show(picked.length);
      // A page may be short and not the last: what another session has locked is left out of it.
      if (page.length === 0) {
        progress.end();
        return picked;
      }
      after = Math.max(...page.map((row) => row.dead_letter_id));
    }
  });
  const rows = letters.map((row) => ({
    number: row.dead_letter_id,
    messageId: row.message_id,
    lane: row.source,
    type: row.event_type,
    streamId: row.stream_id,
    ...(row.is_behind === undefined ? {} : { isBehind: row.is_behind }),
  }));
  if (json === true) console.log(JSON.stringify({ done: rows.length > 0, dryRun, letters: rows }, null, 2));
  else if (rows.length === 0) console.log(plainText(`There are no dead letters ${which}.`));
  else {
    for (const each of rows.slice(0, 20)) {
      const behind = each.isBehind === true ? ', behind what waits in its stream' : '';
      console.log(plainText(`${each.messageId} ${each.type}${behind}`));
    }
    if (rows.length > 20) console.log(`and ${rows.length - 20} more`);
    console.log(
      `${rows.length} dead ${rows.length === 1 ? 'letter' : 'letters'} ${dryRun ? 'would be ' : ''}${verb}.`,
    );
  }
  if (rows.length === 0) process.exitCode = nothingToDo;
}

const shown = (value: unknown) => {
  if (value instanceof Date) return value.toISOString();
  return plainText(typeof value === 'string' ? value : JSON.stringify(value));
};

const notSaid = () =>
  new WhizbangError('INVALID_OPTION', {
    message: 'It is not said which dead letters.',
    hint: 'Give the id of a message, --stream or --type.',
    details: { option: 'which' },
  });
