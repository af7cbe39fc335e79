import { unheardAddresses } from '../../coordinator/index.js';
import { type ConnectionPool, withPooledClient } from '../../database/index.js';
import type { TransportMessage } from '../transport.js';
import { answerMs } from './transfer.js';

interface UnheardEventsOptions {
  readonly pool: ConnectionPool;
  /** Quoted. */
  readonly schema: string;
  readonly tell: (type: string, count: number) => void;
}

const pauseMs = 1_000;

/**
 * Finds out which events go to nobody, beside the sending and with few questions: an address that somebody listens to is
 * asked for once, the others once a second at most. So what is sent to listeners costs a look into a set.
 */
export class UnheardEvents {
  readonly #options: UnheardEventsOptions;
  readonly #heard = new Set<string>();
  /** How many of each type were sent since the last answer, by address. */
  readonly #sent = new Map<string, Map<string, number>>();
  #asking: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: UnheardEventsOptions) {
    this.#options = options;
  }

  note({ address, type, metadata }: TransportMessage): void {
    if (this.#heard.has(address) || this.#isClosed) return;
    if ((metadata as { kind?: unknown } | null)?.kind === 'command') return; // refused where nobody listens
    const counts = this.#sent.get(address) ?? new Map<string, number>();
    counts.set(type, (counts.get(type) ?? 0) + 1);
    this.#sent.set(address, counts);
    if (this.#timer === undefined && this.#asking === undefined) this.#asking = this.#ask();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#asking;
  }

  async #ask(): Promise<void> {
    const { pool, schema, tell } = this.#options;
    const asked = new Map(this.#sent);
    this.#sent.clear();
    try {
      const addresses = [...asked.keys()];
      const unheard = new Set(
        await withPooledClient(pool, (db) => unheardAddresses(db, schema, addresses), answerMs),
      );
      for (const [address, counts] of asked) {
        if (!unheard.has(address)) this.#heard.add(address);
        else for (const [type, count] of counts) tell(type, count);
      }
    } catch {
      // It is only a notice: a database that does not answer is reported by who sends.
    } finally {
      this.#asking = undefined;
      if (!this.#isClosed) this.#timer = setTimeout(() => this.#askAgain(), pauseMs).unref();
    }
  }

  #askAgain(): void {
    this.#timer = undefined;
    if (this.#sent.size > 0) this.#asking = this.#ask();
  }
}
