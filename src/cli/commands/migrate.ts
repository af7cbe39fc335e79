import { Command } from 'commander';
import { type MigrationReport, migrate } from '../../migrate/index.js';
import { databaseUrl, databaseUrlOption } from '../database-url.js';

export function migrateCommand(): Command {
  return new Command('migrate')
    .description('Bring a database to the current schema. Safe to run from many places at once.')
    .addOption(databaseUrlOption())
    .option('--schema <name>', 'schema to install into, made when it does not exist', 'public')
    .action(async (options: { databaseUrl?: string; schema: string }) => {
      const report = await migrate({ connectionString: databaseUrl(options), schema: options.schema });
      console.log(describe(report));
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

function count(n: number, noun: string): string | undefined {
  return n === 0 ? undefined : `${n} ${noun}${n === 1 ? '' : 's'}`;
}
