// `whizbang doctor | report`: what is wrong and what to do about it, and what a bug report needs.
import { Command } from 'commander';
import { examine, type Finding, reportOf } from '../../doctor/index.js';
import { plainText } from '../plain-text.js';
import { type DatabaseCommandOptions, example, withDatabaseOptions, withSession } from '../with-database.js';

export function doctorCommand(): Command {
  return withDatabaseOptions(new Command('doctor'))
    .description(
      'Look for everything that is known to go wrong. Exit code 1 if there is a fault. It changes nothing.',
    )
    .option('--json', 'print JSON')
    .addHelpText('after', example('whizbang doctor --schema messaging'))
    .action(async (options: DatabaseCommandOptions & { json?: boolean }) => {
      const findings = await withSession(options, (db) => examine(db, options.schema));
      console.log(options.json === true ? JSON.stringify(findings, null, 2) : findingsText(findings));
      if (findings.some(({ level }) => level === 'fault')) process.exitCode = 1;
    });
}

function findingsText(findings: readonly Finding[]): string {
  if (findings.length === 0) return 'Nothing is wrong.';
  return findings
    .map(
      ({ code, level, text, remedy }) =>
        `${level.toUpperCase()} ${code}: ${plainText(text)}\n  → ${remedyText(remedy)}`,
    )
    .join('\n');
}

/** A function of a hundred lines is printed by --json. */
function remedyText(remedy: string): string {
  const lines = remedy.split('\n');
  return lines.length > 1
    ? `${plainText(lines[0] ?? '')} … (${lines.length} lines: --json shows them)`
    : plainText(remedy);
}

export function reportCommand(): Command {
  return withDatabaseOptions(new Command('report'))
    .description(
      'Print versions, settings, differences and counts as JSON, for a bug report. No payloads, no addresses.',
    )
    .option('--json', 'print JSON, which it always does')
    .addHelpText('after', example('whizbang report > report.json'))
    .action(async (options: DatabaseCommandOptions) => {
      const report = await withSession(options, (db) => reportOf(db, options.schema));
      console.log(JSON.stringify(report, null, 2));
    });
}
