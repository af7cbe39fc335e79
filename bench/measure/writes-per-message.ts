// How many rows a service writes for a message that it sends to itself, by table: sent, handed out, handled
// without a transaction, completed. A count, not a timing. In: the kind of message, how many. Out: rows per
// message, with those of each table.

import { messageSource } from '../messages.js';
import type { BenchServer } from '../server.js';
import { rowWrites, untilAlone, writesBetween } from './row-writes.js';
import { SteadyLoad } from './steady-load.js';

interface MessageWrites {
  readonly perMessage: number;
  /** Rows per message of each table, the most first. */
  readonly tables: readonly (readonly [table: string, perMessage: number])[];
}

export async function writesPerMessage(
  server: BenchServer,
  kind: 'event' | 'command',
  { streams, messages }: { readonly streams: number; readonly messages: number },
): Promise<MessageWrites> {
  const load = await SteadyLoad.open(server, messageSource(streams), {
    kind,
    transactional: false,
    mostUnderWay: messages,
  });
  try {
    const { client } = load.service;
    const before = await rowWrites(client);
    await load.take(messages);
    await load.service.stop();
    await untilAlone(client);
    const written = writesBetween(before, await rowWrites(client)).filter(([table]) =>
      table.startsWith('wh_'),
    );
    const stored = written.find(([table]) => table === 'wh_event_store')?.[1] ?? 0;
    if (kind === 'event' && stored < messages) throw new Error(`${stored} of ${messages} events were stored`);
    const tables = written.map(([table, rows]) => [table, rows / messages] as const);
    return { perMessage: tables.reduce((sum, [, rows]) => sum + rows, 0), tables };
  } finally {
    await load.close();
  }
}
