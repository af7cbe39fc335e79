import { packageVersion } from '../version.js';
import { type Backlog, countedTo } from './backlog.js';
import type { Counts } from './counted-transport.js';
import type { RelayReadiness } from './health.js';

/** The metrics in the text format of Prometheus. Values that are not known are left out. */
export function metricsText(counts: Counts, readiness: RelayReadiness, backlog: Backlog | undefined): string {
  const lines = [
    ...metric('published_total', 'counter', 'Messages that the transport has confirmed.', counts.published),
    ...metric('failed_total', 'counter', 'Attempts that the transport has refused.', counts.failed),
    ...metric('dead_letters_total', 'counter', 'Messages that were given up.', counts.deadLetters),
    ...metric('received_total', 'counter', 'Messages stored in the inbox.', counts.received),
    ...metric('ready', 'gauge', 'Whether database and transport can be reached.', Number(readiness.ready)),
    ...metric('database_ready', 'gauge', 'Whether PostgreSQL can be reached.', Number(readiness.database)),
    ...metric(
      'transport_ready',
      'gauge',
      'Whether the transport can be reached.',
      Number(readiness.transport),
    ),
    '# HELP whizbang_relay_info The version of the relay.',
    '# TYPE whizbang_relay_info gauge',
    `whizbang_relay_info{version="${packageVersion}"} 1`,
  ];
  if (backlog !== undefined) {
    const { depth, oldestSeconds } = backlog;
    lines.push(
      ...metric('outbox_depth', 'gauge', `Messages in the outbox, counted to ${countedTo}.`, depth),
      ...metric('outbox_oldest_seconds', 'gauge', 'Age of the oldest of these.', oldestSeconds),
    );
  }
  return `${lines.join('\n')}\n`;
}

function metric(name: string, type: 'counter' | 'gauge', help: string, value: number): string[] {
  const full = `whizbang_relay_${name}`;
  return [`# HELP ${full} ${help}`, `# TYPE ${full} ${type}`, `${full} ${value}`];
}
