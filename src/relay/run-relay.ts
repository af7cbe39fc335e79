// The life of a relay: health endpoint first, then an instance of the service, which is made anew until the database
// answers, then work until a signal.
// In: settings, and a signal that asks for the end. Out: log lines, and a promise that ends when everything is given back.
import { setTimeout as pause } from 'node:timers/promises';
import { isOutage } from '../database/index.js';
import { describeError, outageFacts } from '../describe-error.js';
import { WhizbangError } from '../errors.js';
import type { Logger } from '../logger.js';
import { maskOf } from '../secrets.js';
import { type Asker, type Scheme, transportOfUrl } from '../transport-of-url.js';
import type { Transport } from '../transports/index.js';
import { createWhizbang, type Whizbang } from '../whizbang.js';
import { BacklogReader } from './backlog.js';
import { Counts, countedTransport } from './counted-transport.js';
import { openHealth, type RelayReadiness } from './health.js';
import { jsonLogger } from './json-logger.js';
import { metricsText } from './metrics.js';
import type { RelaySettings } from './settings.js';

interface RelayOptions {
  /** Schemes of URLs and their transports. */
  readonly schemes: Readonly<Record<string, Scheme>>;
  /** Asks the relay to stop. */
  readonly signal: AbortSignal;
  readonly write: (line: string) => void;
}

const toFlag: Asker = { command: 'relay', flag: '--to', purpose: 'sending' };
const fromFlag: Asker = { command: 'relay', flag: '--from', purpose: 'receiving' };
const firstWaitMs = 250;
const longestWaitMs = 10_000;

/** Runs a relay until the signal aborts. Throws, with every password masked, when a retry cannot help. */
export async function runRelay(settings: RelaySettings, options: RelayOptions): Promise<void> {
  const mask = maskOf([settings.databaseUrl, settings.to, settings.from]);
  try {
    await new Relay(
      settings,
      jsonLogger({ level: settings.logLevel, mask, write: options.write }),
      options,
    ).run();
  } catch (error) {
    throw masked(error, mask);
  }
}

class Relay {
  readonly #settings: RelaySettings;
  readonly #logger: Logger;
  readonly #options: RelayOptions;
  readonly #counts = new Counts();
  #instance: Whizbang | undefined;
  #state: RelayReadiness['state'] = 'starting';

  constructor(settings: RelaySettings, logger: Logger, options: RelayOptions) {
    this.#settings = settings;
    this.#logger = logger;
    this.#options = options;
  }

  async run(): Promise<void> {
    const { databaseUrl, schema, stopSeconds } = this.#settings;
    const transport = await this.#transport();
    const backlog = new BacklogReader({ connectionString: databaseUrl, schema, logger: this.#logger });
    const health = await this.#openHealth(backlog);
    try {
      await this.#start(transport);
      await aborted(this.#options.signal);
      this.#logger.info({ stopSeconds }, 'Asked to stop');
    } finally {
      this.#state = 'stopping';
      await this.#instance?.stop();
      await backlog.close();
      await health?.close();
    }
  }

  async #transport(): Promise<Transport> {
    const { to, from } = this.#settings;
    const { schemes } = this.#options;
    const sends = await transportOfUrl(toFlag, to, schemes);
    const receives =
      from === undefined || from === to ? undefined : await transportOfUrl(fromFlag, from, schemes);
    // Also where both are the same: not every transport can be received from.
    if (from === to) await transportOfUrl(fromFlag, to, schemes);
    return countedTransport(sends, receives, this.#counts);
  }

  async #openHealth(backlog: BacklogReader) {
    const { healthHost: host, healthPort: port } = this.#settings;
    if (port === undefined) return undefined;
    const readiness = () => this.#readiness();
    const metrics = async () => metricsText(this.#counts, this.#readiness(), await backlog.read());
    const health = await openHealth({ host, port, readiness, metrics });
    this.#logger.info({ host, port: health.port }, 'The health endpoint is open');
    return health;
  }

  /** An instance starts once: each attempt makes a new one. */
  async #start(transport: Transport): Promise<void> {
    const { signal } = this.#options;
    for (let waitMs = firstWaitMs; !signal.aborted; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
      const instance = this.#make(transport);
      this.#instance = instance;
      const stop = () => void instance.stop();
      signal.addEventListener('abort', stop, { once: true });
      try {
        await instance.start();
        this.#state = 'running';
        return;
      } catch (error) {
        if (signal.aborted) return;
        if (!mayPass(error)) throw error;
        const facts = { ...outageFacts(error), retryInSeconds: waitMs / 1000 };
        this.#logger.warn(facts, 'The relay cannot start yet; it tries again');
        await pause(waitMs, undefined, { signal }).catch(() => {});
      } finally {
        signal.removeEventListener('abort', stop);
      }
    }
  }

  #make(transport: Transport): Whizbang {
    const { databaseUrl, schema, service, from, listen, leaseSeconds, stopSeconds } = this.#settings;
    const instance = createWhizbang({
      service,
      schema,
      connectionString: databaseUrl,
      transport,
      ...(from !== undefined && { addresses: listen }),
      concurrency: 1,
      leaseSeconds,
      renewSeconds: Math.min(5, leaseSeconds / 2),
      stopSeconds,
      logger: this.#logger,
    });
    instance.on('deadLetter', ({ error, ...facts }) => {
      this.#counts.deadLetters++;
      const described = { ...facts, error: describeError(error) };
      this.#logger.error(described, 'A message was given up and is now a dead letter');
    });
    return instance;
  }

  #readiness(): RelayReadiness {
    const { database, transport } = this.#instance?.readiness ?? { database: false, transport: false };
    const state = this.#state;
    return { ready: state === 'running' && database && transport, state, database, transport };
  }
}

/** Wrong credentials, a wrong name of a database: they stay wrong. */
const wrongLogin = /^(28...|3D000)$/;

/** Whether an error of the start may pass by itself: the database or the broker is away. */
function mayPass(error: unknown): boolean {
  if (!(error instanceof WhizbangError)) return false;
  if (wrongLogin.test(String(error.details.sqlState))) return false;
  return isOutage(error) || error.retryable || error.code === 'TIMEOUT';
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

function masked(error: unknown, mask: (text: string) => string): WhizbangError {
  if (!(error instanceof WhizbangError))
    return new WhizbangError('DATABASE_ERROR', {
      message: `relay: ${mask(describeError(error))}`,
      hint: 'This was not expected. Please report it.',
    });
  const { code, message, hint, details } = error;
  return new WhizbangError(code, { message: mask(message), hint: mask(hint), details });
}
