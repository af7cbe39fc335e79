// Builds of perspectives, as users ask for them: built again, switched, dropped.
// In: a perspective. Out: a promise that is kept when the build is ready.
// Called by users. A build beside is made by whoever has the code; here it is begun and watched.
import { type BuildRow, buildsOf, dropBuild, rebuildPerspective, wantBuild } from '../coordinator/index.js';
import { type ConnectionPool, type Queryable, withPooledClient } from '../database/index.js';
import type { Origin } from '../dispatch/index.js';
import { WhizbangError } from '../errors.js';
import { streamIdOf } from '../messages/index.js';
import { invalidOption } from '../options.js';
import type { RunWatched } from '../work/index.js';
import { type BuildDifferences, type DiffOptions, diffBuilds } from './diff-builds.js';
import { beginAnew, foldStreamsAgain } from './rebuild-in-place.js';
import { type AnyPerspective, codeOf } from './registry.js';
import { type BuildStatus, watchBuild } from './watch-build.js';

interface BuildsOptions<Tx> {
  readonly pool: ConnectionPool;
  /** The schema, quoted. */
  readonly schema: string;
  /** Begins the transactions of rebuilds in place. */
  readonly transaction: RunWatched<Tx>;
  readonly origin: Origin;
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
  /**
   * True: the models are emptied and made again where they are; tables of your own by `.resets(…)`. Until it is
   * done, queries see what has been made so far.
   */
  readonly inPlace?: boolean | undefined;
  /** Only the models of these streams, where they are: their ids, or the texts that these are made from. */
  readonly streams?: readonly string[] | undefined;
}

/** Options of `perspectives.switch`. */
export interface SwitchOptions extends WatchOptions {
  /** The build: `orders@1`. Default: the one that is beside, or else the one that was live before. */
  readonly build?: string | undefined;
}

/** Time limit of a statement: a table with its indexes is made, while others register theirs. */
const answerMs = 60_000;

/** Builds of the perspectives of a service: made again, compared, switched and dropped. */
export class PerspectiveBuilds<Tx> {
  readonly #options: BuildsOptions<Tx>;

  constructor(options: BuildsOptions<Tx>) {
    this.#options = options;
  }

  /**
   * Builds the models of a perspective again, beside those that queries read. Resolves with the last progress when
   * the new ones are read. If it was interrupted, the next call goes on with the same build.
   */
  async rebuild(perspective: AnyPerspective<Tx>, options: RebuildOptions = {}): Promise<BuildStatus> {
    const { name, version } = perspective;
    const { switchOver: switches = true, inPlace = false, streams } = options;
    if (streams !== undefined) return this.#foldAgain(perspective, streams, options);
    if (inPlace) return this.#beginAnew(perspective, options);
    const build = await this.#ask((db, schema) =>
      rebuildPerspective(db, schema, { name, version, switches }),
    );
    return this.#watch(build.name, options);
  }

  /**
   * Compares the models that queries read with those of another build: the one beside, or the one before. Returns
   * those that differ; the ones of equal version come first.
   */
  diff(perspective: AnyPerspective<Tx>, options: DiffOptions = {}): Promise<BuildDifferences> {
    return diffBuilds((question) => this.#ask(question), perspective.name, options);
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
    if (!build.startsWith(`${perspective.name}@`)) {
      const hint = `Give the name of a build: ${codeOf(perspective)}.`;
      throw invalidOption('perspectives.drop', 'build', `${build} is no build of ${perspective.name}`, hint);
    }
    if (await this.#ask((db, schema) => dropBuild(db, schema, build))) return;
    throw new WhizbangError('TIMEOUT', {
      message: `${build} of ${perspective.name} was not dropped: its table is in use.`,
      hint: 'Try again when no query reads it, and no view of yours depends on it.',
      details: { build },
    });
  }

  /** In all builds of this code: what is made again has to be the same in each. */
  async #foldAgain(
    perspective: AnyPerspective<Tx>,
    streams: readonly string[],
    options: RebuildOptions,
  ): Promise<BuildStatus> {
    if (perspective.kind !== 'stream') {
      const hint = 'Rebuild the whole perspective.';
      throw invalidOption(
        'perspectives.rebuild',
        'streams',
        `${perspective.name} has no model of a stream`,
        hint,
      );
    }
    const ids = [...new Set(streams.map((each) => streamIdOf(each)))].toSorted();
    const builds = await this.#buildsOf(perspective);
    for (const { name } of builds) await foldStreamsAgain(this.#options, perspective, name, ids);
    return this.#watch((builds[0] as BuildRow).name, options);
  }

  async #beginAnew(perspective: AnyPerspective<Tx>, options: RebuildOptions): Promise<BuildStatus> {
    if (perspective.kind === 'custom' && perspective.reset === undefined) {
      const hint = `Say how its tables are emptied: ${perspective.name}.resets(async ({ tx }) => { … }).`;
      throw invalidOption('perspectives.rebuild', 'inPlace', `${perspective.name} cannot be emptied`, hint);
    }
    const [build] = await this.#buildsOf(perspective);
    await beginAnew(this.#options, perspective, (build as BuildRow).name);
    return this.#watch((build as BuildRow).name, options);
  }

  /** The builds of the code that this instance has, the live one first. */
  async #buildsOf(perspective: AnyPerspective<Tx>): Promise<readonly BuildRow[]> {
    const all = await this.#ask((db, schema) => buildsOf(db, schema, perspective.name));
    const own = all.filter(({ code }) => code === codeOf(perspective));
    if (own.length > 0) return own;
    throw new WhizbangError('INVALID_REQUEST', {
      message: `${codeOf(perspective)} is not registered: no instance with it has started.`,
      details: { perspective: codeOf(perspective) },
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
