// Builds of perspectives, as users ask for them: built again, switched, dropped.
// In: a perspective. Out: a promise that is kept when the build is ready.
// Called by users. A build beside is made by whoever has the code; here it is begun and watched.
import { dropBuild, rebuildPerspective, wantBuild } from '../coordinator/index.js';
import { type ConnectionPool, type Queryable, withPooledClient } from '../database/index.js';
import { WhizbangError } from '../errors.js';
import type { AnyPerspective } from './registry.js';
import { type BuildStatus, watchBuild } from './watch-build.js';

interface BuildsOptions {
  readonly pool: ConnectionPool;
  /** The schema, quoted. */
  readonly schema: string;
}

interface WatchOptions {
  /** Called when something has changed. */
  readonly onProgress?: ((status: BuildStatus) => void) | undefined;
  /** Ends the wait. What was begun goes on. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of `perspectives.rebuild`. */
export interface RebuildOptions extends WatchOptions {
  /** False: the build stays beside the live one when it has caught up, to be compared. Default: true. */
  readonly switchOver?: boolean | undefined;
}

/** Options of `perspectives.switch`. */
export interface SwitchOptions extends WatchOptions {
  /** The build: `orders@1`. Default: the one that is beside, or else the one that was live before. */
  readonly build?: string | undefined;
}

/** Time limit of a statement: a table with its indexes is made, while others register theirs. */
const answerMs = 60_000;

export class PerspectiveBuilds<Tx> {
  readonly #options: BuildsOptions;

  constructor(options: BuildsOptions) {
    this.#options = options;
  }

  /**
   * Builds the models of a perspective again, beside those that queries read. Resolves with the last progress when
   * the new ones are read. If it was interrupted, the next call goes on with the same build.
   */
  async rebuild(perspective: AnyPerspective<Tx>, options: RebuildOptions = {}): Promise<BuildStatus> {
    const { name, version } = perspective;
    const { switchOver: switches = true } = options;
    const build = await this.#ask((db, schema) =>
      rebuildPerspective(db, schema, { name, version, switches }),
    );
    return this.#watch(build.name, options);
  }

  /** Makes queries read another build: the one beside, or the one before. Resolves when they do. */
  async switch(perspective: AnyPerspective<Tx>, options: SwitchOptions = {}): Promise<BuildStatus> {
    const build = await this.#ask((db, schema) =>
      wantBuild(db, schema, perspective.name, options.build ?? null),
    );
    return this.#watch(build, options);
  }

  /** Drops a build that queries do not read, with its models: `orders@1`. */
  async drop(perspective: AnyPerspective<Tx>, build: string): Promise<void> {
    if (await this.#ask((db, schema) => dropBuild(db, schema, build))) return;
    throw new WhizbangError('TIMEOUT', {
      message: `${build} of ${perspective.name} was not dropped: its table is in use.`,
      hint: 'Try again when no query reads it, and no view of yours depends on it.',
      details: { build },
    });
  }

  async #watch(build: string, { onProgress, signal }: WatchOptions): Promise<BuildStatus> {
    let last: BuildStatus | undefined;
    for await (const status of watchBuild((question) => this.#ask(question), build, signal)) {
      last = status;
      onProgress?.(status);
    }
    return last as BuildStatus;
  }

  #ask<T>(question: (db: Queryable, schema: string) => Promise<T>): Promise<T> {
    const { pool, schema } = this.#options;
    return withPooledClient(pool, (db) => question(db, schema), answerMs);
  }
}
