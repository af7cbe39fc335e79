import { isDeepStrictEqual } from 'node:util';
import { saveSnapshot } from '../coordinator/index.js';
import { describeError } from '../describe-error.js';
import type { Decider, Fold } from '../fold/index.js';
import type { Logger } from '../logger.js';
import type { StreamId } from '../message.js';
import type { StoreAccess } from './store-access.js';

/** The keys without which the state must not be kept. */
interface WithKeys {
  readonly keyIds: readonly string[];
}

/** Keeps states of streams, so that a load need not read all events. A state that is not kept costs time only. */
export class Snapshots {
  readonly #access: StoreAccess;
  readonly #logger: Logger;
  /** Deciders whose states cannot be kept as JSON. */
  readonly #refused = new Set<string>();

  constructor(access: StoreAccess, logger: Logger) {
    this.#access = access;
    this.#logger = logger;
  }

  /** Whether so many events came after the last kept state that the next one is due. */
  isDue<State>({ name, snapshotEvery }: Decider<State>, keptVersion: number, version: number): boolean {
    return snapshotEvery !== undefined && version - keptVersion >= snapshotEvery && !this.#refused.has(name);
  }

  /** Keeps the state that `load` returns. */
  async keep<State>(
    decider: Decider<State>,
    streamId: StreamId,
    load: () => Promise<Fold<State> & WithKeys>,
    tx: object | undefined,
  ): Promise<void> {
    try {
      await this.#keep(decider, streamId, await load(), tx);
    } catch (error) {
      // In a transaction of the caller a failed statement spoils all of it: then the error must not be hidden.
      // Outside of one, the events are stored: who decided must not be told that it failed.
      if (tx !== undefined) throw error;
      const facts = { decider: decider.name, error: describeError(error) };
      this.#logger.warn(facts, 'The state of a decider was not kept');
    }
  }

  async #keep<State>(
    { name, fold }: Decider<State>,
    streamId: StreamId,
    { state, version, keyIds }: Fold<State> & WithKeys,
    tx: object | undefined,
  ): Promise<void> {
    const json = asJson(state);
    if (json === undefined) {
      this.#refused.add(name);
      const facts = {
        decider: name,
        hint: 'Keep only what JSON can hold in the state: no Date, Map, bigint, undefined.',
      };
      this.#logger.warn(facts, 'The state of a decider cannot be kept: it is not the same after JSON');
      return;
    }
    const snapshot = { streamId, decider: name, fold, version, state: json, keyIds };
    await this.#access.ask(tx, (db, schema) => saveSnapshot(db, schema, snapshot));
  }
}

/** The state as JSON; undefined when it is not the same after it, or cannot be written. */
function asJson(state: unknown): string | undefined {
  try {
    const json = JSON.stringify(state);
    return isDeepStrictEqual(JSON.parse(json), state) ? json : undefined;
  } catch {
    return undefined;
  }
}
