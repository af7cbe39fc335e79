import { Command, Option } from 'commander';
import { defaultSchema } from '../../database/index.js';
import {
  type GrantKind,
  grantKinds,
  type MigrationReport,
  migrate,
  migrationSql,
} from '../../migrate/index.js';
import { jsonOption } from '../arguments.js';
import { databaseUrl, databaseUrlOption } from '../database-url.js';
import { withElapsed } from '../progress.js';
import { example } from '../with-database.js';

interface MigrateCommandOptions {
  readonly databaseUrl?: string;
  readonly schema?: string;
  readonly check?: true;
  readonly sql?: true;
  readonly grantTo?: string;
  readonly as?: GrantKind;
  readonly json?: boolean;
}

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('Bring a database to the current schema. Safe to run from many places at once.')
    .addOption(databaseUrlOption())
    .option('--schema <name>', `schema to install into, made when it does not exist; ${defaultSchema}`)
    .option('--grant-to <role>', 'give a role the rights that it needs')
    .addOption(new Option('--as <kind>', 'what that role is for; service').choices([...grantKinds]))
    .option('--check', 'change nothing; exit with 1 and list what is pending, if anything is')
    .option('--sql', 'change nothing; print what would be run, for psql')
    .addOption(jsonOption())
    .addHelpText('after', example('whizbang migrate --schema messaging --grant-to shop'))
    .action(async ({ check, sql, json, ...given }: MigrateCommandOptions) => {
      const { schema, grantTo, as: grantAs } = given;
      const options = { connectionString: databaseUrl(given), schema, grantTo, grantAs };
      if (sql) return console.log((await migrationSql(options)) ?? '-- Nothing is to be done.');
      const report = await withElapsed('the schema is brought up to date', () =>
        migrate({ ...options, check }),
      );
      const text = check ? describePending(report) : describe(report);
      console.log(json === true ? JSON.stringify(report, null, 2) : text);
      if (check && !report.alreadyCurrent) process.exitCode = 1;
    });
}

export function describe(report: MigrationReport): string {
  const where = `Schema ${report.schema}`;
  if (report.alreadyCurrent) return `${where} is current (whizbang ${report.toVersion}).`;
  const steps = [
    count(report.applied.length, 'migration'),
    count(report.functions.length, 'function'),
    count(report.views.length, 'view'),
  ].filter((step) => step !== undefined);
  const how =
    report.fromVersion === null
      ? `installed (whizbang ${report.toVersion})`
      : `migrated from whizbang ${report.fromVersion} to ${report.toVersion}`;
  return `${where} ${how}: ${steps.length === 0 ? 'obsolete objects removed' : `${steps.join(', ')} applied`}.`;
}

function describePending(report: MigrationReport): string {
  if (report.alreadyCurrent) return describe(report);
  const state =
    report.fromVersion === null ? 'is not installed' : `was migrated by whizbang ${report.fromVersion}`;
  const lines = [
    ...report.applied.map((name) => `migration ${name}`),
    ...report.functions.map((name) => `function ${name}`),
    ...report.views.map((name) => `view ${name}`),
  ];
  const pending = lines.length === 0 ? ['obsolete objects to remove'] : lines;
  return [`Schema ${report.schema} ${state}. Pending for whizbang ${report.toVersion}:`, ...pending].join(
    '\n',
  );
}

function count(n: number, noun: string): string | undefined {
  return n === 0 ? undefined : `${n} ${noun}${n === 1 ? '' : 's'}`;
}
