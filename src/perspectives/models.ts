// The models of a perspective, for queries.
// In: ids, values of columns, receipts. Out: models, as the schema of the perspective makes them of what is stored.
// Called by users: `shop.model(orders)`. It stores nothing.
import {
  findModels,
  type LoadedModel,
  loadModel,
  type PerspectiveState,
  readStream,
} from '../coordinator/index.js';
import { WhizbangError } from '../errors.js';
import {
  type CustomPerspective,
  foldModels,
  type KeyedPerspective,
  type ModelPerspective,
  type Perspective,
  type StoredEvent,
} from '../fold/index.js';
import { streamIdOf } from '../messages/index.js';
import { type FindOptions, findQuery } from './find-query.js';
import type { ModelAccess } from './model-access.js';
import { readModel } from './read-model.js';
import { codeOf } from './registry.js';
import {
  eventsOf,
  held,
  Patience,
  timedOut,
  untilApplied,
  type WaitOptions,
  type Written,
} from './wait-for.js';

/** Options of `model(p).get`. */
export interface GetOptions extends WaitOptions {
  /** What the model has to contain: the receipt of what this request has written. */
  readonly atLeast?: Written | undefined;
  /** Of a keyed perspective. True: what is there, also while the models are built. Default: false. */
  readonly stale?: boolean | undefined;
}

/** A model that `find` has found. */
export interface FoundModel<Model> {
  /** The id of the stream, or the key. */
  readonly id: string;
  readonly model: Model;
  /** Of a stream: the version up to which it has the events. Of a key: how many events it has. */
  readonly version: number;
  /** Its place in the order of the query, to go on behind it: `{ after: found.position }`. */
  readonly position: string;
}

/** Waits for a perspective. */
export interface Waiting {
  /**
   * Waits until the perspective has applied what was written. Rejects at once with PERSPECTIVE_HELD when it cannot,
   * and with PERSPECTIVE_TIMEOUT, and what holds it up, when it has not in time.
   */
  readonly waitFor: (written: Written, options?: WaitOptions) => Promise<void>;
}

/** The models of a perspective: `shop.model(orders)`. */
export interface Models<Model, Column extends string> extends Waiting {
  /**
   * Returns a model by its key, or by the id of its stream, which may be the text that the stream rule makes it from.
   * Null: there is none. With `atLeast` it has everything that the request has written: what the stored model of a
   * stream does not have yet is added on reading, and nobody is waited for.
   */
  readonly get: (id: string, options?: GetOptions) => Promise<Model | null>;
  /** Returns models by the values of their columns. */
  readonly find: (options?: FindOptions<Model, Column>) => Promise<readonly FoundModel<Model>[]>;
}

/** Finds the models of a perspective. One made by `perspectiveFor` has none of its own, and can be waited for. */
export interface ModelsOf {
  <Model, Column extends string>(
    perspective: Perspective<Model, Column> | KeyedPerspective<Model, Column>,
  ): Models<Model, Column>;
  <Tx>(perspective: CustomPerspective<Tx>): Waiting;
}

const pageSize = 500;

/** Returns what `shop.model` is. */
export function modelsIn(access: ModelAccess): ModelsOf {
  const models = (perspective: ModelPerspective<unknown> | CustomPerspective<unknown>): Waiting => {
    const { name } = perspective;
    const waitFor = async (written: Written, options: WaitOptions = {}) =>
      untilApplied(access, perspective, written, new Patience(`model(${name}).waitFor`, options));
    return perspective.kind === 'custom'
      ? { waitFor }
      : { waitFor, ...new ModelReader(access, perspective).members };
  };
  return models as ModelsOf;
}

class ModelReader {
  readonly #access: ModelAccess;
  readonly #perspective: ModelPerspective<unknown>;
  readonly #code: string;

  constructor(access: ModelAccess, perspective: ModelPerspective<unknown>) {
    this.#access = access;
    this.#perspective = perspective;
    this.#code = codeOf(perspective);
  }

  get members(): Omit<Models<unknown, string>, 'waitFor'> {
    return {
      get: async (id, options = {}) => {
        const patience = new Patience(`model(${this.#perspective.name}).get`, options, ['atLeast', 'stale']);
        return this.#perspective.kind === 'keyed'
          ? this.#getByKey(this.#perspective, id, options, patience)
          : this.#getOfStream(this.#perspective, streamIdOf(id), options.atLeast, patience);
      },
      find: (options = {}) => this.#find(options),
    };
  }

  async #getByKey(
    perspective: KeyedPerspective<unknown>,
    key: string,
    { atLeast, stale }: GetOptions,
    patience: Patience,
  ): Promise<unknown> {
    if (atLeast !== undefined) await untilApplied(this.#access, perspective, atLeast, patience);
    const question = { code: this.#code, id: key, types: undefined, withEvents: false, limit: pageSize };
    const { state, model } = await this.#access.ask((db, schema) => loadModel(db, schema, question));
    if (stale !== true) this.#refuseUnbuilt(state);
    return model === null ? null : readModel(perspective, key, model);
  }

  async #getOfStream(
    perspective: Perspective<unknown>,
    streamId: string,
    atLeast: Written | undefined,
    patience: Patience,
  ): Promise<unknown> {
    // What was written to other streams does not concern this model.
    const wanted = atLeast && eventsOf(atLeast).find((event) => event.streamId === streamId);
    const question = {
      code: this.#code,
      id: streamId,
      types: perspective.eventTypes,
      withEvents: atLeast !== undefined,
      limit: pageSize,
    };
    for (;;) {
      const loaded = await this.#access.ask((db, schema) => loadModel(db, schema, question));
      if (wanted === undefined || (loaded.stream_version ?? 0) >= wanted.version) {
        return this.#fold(perspective, streamId, loaded);
      }
      if (await patience.goesOn()) continue;
      const progress = { is_stored: false, state: loaded.state };
      throw await timedOut(this.#access, perspective, wanted, progress, patience);
    }
  }

  /** The stored model with the events that it does not have yet. */
  async #fold(perspective: Perspective<unknown>, streamId: string, loaded: LoadedModel): Promise<unknown> {
    const { model, version, events: rows = [], skipped = [] } = loaded;
    if (rows.length === 0) return model === null ? null : readModel(perspective, streamId, model);
    const stored = [...rows];
    for (let page = rows; page.length === pageSize; ) {
      const after = page.at(-1)?.version;
      page = await this.#access.ask((db, schema) =>
        readStream(db, schema, { streamId, after, limit: pageSize, backwards: false }),
      );
      stored.push(...page);
    }
    const events = await this.#access.read(stored);
    const isMeant = (event: StoredEvent) => !skipped.includes(event.version);
    const before = new Map([[streamId, { model, version }]]);
    const results = await foldModels(perspective, before, events.filter(isMeant));
    const failed = results.find((result) => result.kind === 'held');
    if (failed?.kind === 'held') {
      const { version: failedVersion, type } = failed.event;
      const at = { streamId, version: loaded.stream_version ?? failedVersion };
      const why = { key: null, version: failedVersion, event: type, error: failed.error.message };
      throw held(perspective, at, { stream_id: streamId, ...why }, failed.error);
    }
    const [result] = results;
    if (result === undefined) return model === null ? null : readModel(perspective, streamId, model);
    return result.kind === 'changed' ? result.value : null;
  }

  async #find(options: FindOptions<unknown, string>): Promise<readonly FoundModel<unknown>[]> {
    const query = findQuery(this.#perspective, options);
    const { state, models } = await this.#access.ask((db, schema) =>
      findModels(db, schema, this.#code, query.json),
    );
    if (options.stale !== true) this.#refuseUnbuilt(state);
    return Promise.all(
      models.map(async (row) => ({
        id: row.id,
        model: await readModel(this.#perspective, row.id, row.model),
        version: row.version,
        position: query.positionOf(row),
      })),
    );
  }

  #refuseUnbuilt(state: PerspectiveState | null): void {
    if (state === 'live' || state === 'retired') return;
    const why = state === null ? 'no instance has registered it yet' : 'its models are being built';
    throw new WhizbangError('PERSPECTIVE_BUILDING', {
      message: `${this.#code} cannot be queried: ${why}.`,
      details: { perspective: this.#code, state },
    });
  }
}
