// whizbang as a user runs it: a started service publishes in batches of 100, outside a transaction, and its own receptor
// handles what arrives, in stream order: outbox, transport, inbox, receptor, completion. The schema is checked on both sides.

import type { WhizbangOptions } from '../../src/index.js';
import { SteadyLoad } from '../measure/steady-load.js';
import { messageSource } from '../messages.js';
import type { BenchServer } from '../server.js';
import type { Runner } from './contender.js';
import { repeatFor } from './contender.js';

export interface ServiceSettings {
  readonly name: string;
  readonly streams: number | 'own';
  /** Whether each message has a transaction of its own, in which it is completed. */
  readonly transactional: boolean;
  readonly messagesPerCycle: number;
  readonly options: () => Partial<WhizbangOptions>;
}

export async function openWhizbangService(server: BenchServer, settings: ServiceSettings): Promise<Runner> {
  const { name, streams, transactional, messagesPerCycle, options } = settings;
  const load = await SteadyLoad.open(server, messageSource(streams), { transactional, options });
  return {
    name,
    slice: (milliseconds) => repeatFor(milliseconds, () => load.take(messagesPerCycle)),
    close: () => load.close(),
  };
}
