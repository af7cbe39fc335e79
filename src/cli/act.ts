// How every command acts: it asks, or is told --yes; it does what it does in one transaction, and with --dry-run rolls that back.
// In: a question and an action. Out: what was done, as text or JSON. Exit code 2: there was nothing to do.
import type { Command } from 'commander';
import { inTransaction, type Queryable, quoteSchema } from '../database/index.js';
import { listOperations } from '../operate/index.js';
import { dryRunOption, jsonOption, whoOption } from './arguments.js';
import { confirm, yesOption } from './confirm.js';
import { plainText } from './plain-text.js';
import { whoIsThis } from './who.js';
import { type DatabaseCommandOptions, withDatabaseOptions, withSession } from './with-database.js';

/** Options of every command that acts. */
export interface ActOptions extends DatabaseCommandOptions {
  readonly json?: boolean;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly who?: string;
}

/** The exit code of a command that had nothing to do. */
export const nothingToDo = 2;

export function withActOptions(command: Command): Command {
  return withDatabaseOptions(command)
    .addOption(yesOption())
    .addOption(dryRunOption())
    .addOption(whoOption())
    .addOption(jsonOption());
}

export const whoOf = ({ who }: ActOptions) => who ?? whoIsThis();

interface Action {
  /** Asked first. Undefined: it need not be asked. */
  readonly question?: string;
  /** Does it. Returns whether there was anything to do: false or 0 if not. */
  readonly run: (db: Queryable, schema: string, who: string) => Promise<boolean | number>;
  /** What is said when it is done, and when there was nothing to do. */
  readonly done: string;
  readonly nothing: string;
}

/** Runs one action, and says what it did. */
export async function act(options: ActOptions, { question, run, done, nothing }: Action): Promise<void> {
  const { json, dryRun = false } = options;
  if (question !== undefined && !dryRun && !(await confirm(question, options))) {
    console.log(json === true ? JSON.stringify({ done: false, dryRun }) : 'Nothing was changed.');
    return;
  }
  const { isDone, operation } = await withSession(options, (db) => rehearsed(db, options, run));
  const text = isDone ? `${dryRun ? 'It would be so: ' : ''}${done}` : nothing;
  console.log(
    json === true ? JSON.stringify({ done: isDone, dryRun, ...operation }, null, 2) : plainText(text),
  );
  if (!isDone) process.exitCode = nothingToDo;
}

/** Runs it, and reads what it has written down. A dry run is rolled back. */
async function rehearsed(db: Queryable, options: ActOptions, run: Action['run']) {
  const schema = quoteSchema(options.schema);
  const work = async () => {
    const isDone = Boolean(await run(db, schema, whoOf(options)));
    const [operation] = isDone ? await listOperations(db, schema, { limit: 1 }) : [];
    return { isDone, operation };
  };
  return inTransaction(db, work, { isRehearsal: options.dryRun === true });
}
