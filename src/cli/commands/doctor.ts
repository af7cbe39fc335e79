// `whizbang doctor | report`: what is wrong and what to do about it, and what a bug report needs.
import { Command, Option } from 'commander';
import { examine, type Finding, reportOf } from '../../doctor/index.js';
import { WhizbangError } from '../../errors.js';
import { maskOf } from '../../secrets.js';
import { type Asker, transportOfUrl } from '../../transport-of-url.js';
import type { Transport } from '../../transports/index.js';
import { plainText } from '../plain-text.js';
import { type DatabaseCommandOptions, example, withDatabaseOptions, withSession } from '../with-database.js';

export function doctorCommand(): Command {
  return withDatabaseOptions(new Command('doctor'))
    .description(
      'Look for everything that is known to go wrong. Exit code 1 if there is a fault. It changes nothing.',
    )
    .option(
      '--transport <url>',
      'look at the broker too: amqp:, nats:, tls:, sb: or sqs: (or WHIZBANG_TRANSPORT)',
    )
    .addOption(
      new Option(
        '--service <name>',
        'whose queues to look at there, may be repeated (default: the services that have instances in the schema)',
      ).argParser<readonly string[] | undefined>((name, before) => [...(before ?? []), name]),
    )
    .option('--json', 'print JSON')
    .addHelpText('after', example('whizbang doctor --schema messaging --transport amqp://localhost'))
    .action(async (options: DoctorOptions) => {
      const { schema, service: services = [] } = options;
      const url = options.transport ?? (process.env.WHIZBANG_TRANSPORT || undefined);
      const transport = url === undefined ? withoutTransport(services) : await transportOfUrl(flag, url);
      const findings = await withSession(options, (db) =>
        examine(db, schema, transport && { transport, services }),
      );
      const shown = findings.map((finding) => withoutSecrets(finding, maskOf([url])));
      const lines = [...(transport ? [traitsText(transport)] : []), findingsText(shown)];
      process.exitCode = shown.some(({ level }) => level === 'fault') ? 1 : 0;
      // The client of a broker that fell silent may keep the process alive.
      const end = () => transport && process.exit();
      process.stdout.write(
        `${options.json === true ? JSON.stringify(shown, null, 2) : lines.join('\n')}\n`,
        end,
      );
    });
}

interface DoctorOptions extends DatabaseCommandOptions {
  readonly transport?: string;
  readonly service?: readonly string[];
  readonly json?: boolean;
}

const flag: Asker = { command: 'doctor', flag: '--transport', purpose: 'looking' };

function withoutTransport(services: readonly string[]): undefined {
  if (services.length === 0) return undefined;
  throw new WhizbangError('INVALID_OPTION', {
    message: 'doctor: --service is given without --transport.',
    hint: 'Give --transport, the URL of the broker at which the queues of the service are.',
    details: { option: '--service' },
  });
}

const withoutSecrets = (finding: Finding, mask: (text: string) => string): Finding => ({
  ...finding,
  text: mask(finding.text),
  remedy: mask(finding.remedy),
});

const sentTexts = {
  replicated: 'the loss of a machine',
  disk: 'a restart of the broker, and not the loss of its disk',
  memory: 'a crash of the broker at most, and not one of its machine',
  unknown: 'what the broker is set to, which it does not tell',
} as const;

function traitsText({ name, traits: { moves, sent } }: Transport): string {
  return `${name}, by its options: a message that was sent survives ${sentTexts[sent]}. With one instance at a time: a ${moves}.`;
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
