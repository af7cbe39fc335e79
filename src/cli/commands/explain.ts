// `whizbang explain`: why a message, or a stream, is not running, and what to do about it.
import { Command } from 'commander';
import { type Explanation, explain } from '../../operate/index.js';
import { plainText } from '../plain-text.js';
import { ago, since } from '../spans.js';
import { type DatabaseCommandOptions, example, withDatabaseOptions, withSession } from '../with-database.js';

export function explainCommand(): Command {
  return withDatabaseOptions(new Command('explain'))
    .description(
      'Say why a message or a stream is not running: reasons, the most decisive first, each with its remedy, and which instance could take it now. It changes nothing and locks nothing. Exit code 1 only if it could not ask.',
    )
    .argument('<id>', 'the id of a message, or of a stream, or the text that the stream is made from')
    .option('--json', 'print JSON')
    .addHelpText('after', example('whizbang explain 0192f3a0-7c1e-7000-8000-000000000001 --schema messaging'))
    .action(async (id: string, options: DatabaseCommandOptions & { json?: boolean }) => {
      const found = await withSession(options, (db) => explain(db, options.schema, id));
      console.log(options.json === true ? JSON.stringify(found, null, 2) : explanationText(found));
    });
}

interface Facts {
  readonly type?: string;
  readonly message_id?: string;
  readonly stream_id?: string | null;
  readonly target?: string;
  readonly stored_at?: string;
}

function explanationText(found: Explanation): string {
  const at = new Date(found.at);
  const {
    type,
    message_id: messageId,
    stream_id: streamId,
    target,
    stored_at: storedAt,
  } = (found.reasons[0]?.facts ?? {}) as Facts;
  const head = [
    type,
    messageId ?? found.id,
    streamId && `stream ${streamId}`,
    found.lane && (target ? `${found.lane}, ${target}` : found.lane),
    storedAt && `stored ${ago(new Date(storedAt), at)}`,
    `at ${found.at}`,
  ];
  const time = (text: string | null, word: string) =>
    text === null ? '' : ` (${word} ${text}, ${since(new Date(text), at)})`;
  return [
    plainText(head.filter(Boolean).join('  ')),
    ...found.reasons.flatMap(({ step, code, text, until, remedy, ...reason }) => [
      `${step} ${code}: ${plainText(text)}${time(until, 'until') || time(reason.since, 'since')}`,
      ...(remedy === null ? [] : [`  → ${plainText(remedy)}`]),
    ]),
    ...found.instances.map(
      ({ instanceId, canTake, code }) =>
        `${instanceId} ${canTake ? 'could take it now' : `would not: ${code}`}`,
    ),
  ].join('\n');
}
