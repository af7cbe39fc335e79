// One sampler for all who look on: however many browsers there are, the database is asked once per step.
// In: who watches which schema. Out: samples, to all of them. It rests when nobody looks, and keeps what it has seen for a while,
// so that whoever comes next has a past to look at.
import type { LoadCell, Overview } from './reads/overview.js';

/** A point of the charts, in this process's words: rates per second since the point before. */
export interface Point {
  readonly at: string;
  readonly handled: number;
  readonly failed: number;
  readonly published: number;
  /** Per lane: streams that could run, for how long the oldest of them has waited, and dead letters. */
  readonly lanes: Readonly<
    Record<string, { readonly due: number; readonly ageSeconds: number; readonly dead: number }>
  >;
}

export type Sample =
  | { readonly overview: Overview; readonly point: Point }
  /** It could not be read: the text says why. */
  | { readonly error: string };

interface Watcher {
  readonly schema: string;
  readonly watchesLoad: boolean;
  take(sample: Sample): void;
}

interface SamplerOptions {
  readonly read: (schema: string) => Promise<Overview>;
  /** The heat map: asked only while somebody looks at it. */
  readonly readLoad: (schema: string) => Promise<readonly LoadCell[]>;
  readonly describe: (error: unknown) => string;
  /** The pause between two samples at least. */
  readonly everyMs: number;
}

/** It rests so many times as long as it has worked: whatever a sample takes, it is at most a twentieth of the time. */
const restFactor = 20;
/** The heat map reads every stream: it is asked again when a hundred times as long as that took has passed. */
const loadRestFactor = 100;
/** Half an hour at one sample in two seconds. */
const mostPoints = 900;

interface Past {
  readonly points: Point[];
  overview: Overview | undefined;
  last: Sample | undefined;
  load: { readonly cells: readonly LoadCell[]; readonly restsUntil: number } | undefined;
}

export class Sampler {
  readonly #options: SamplerOptions;
  readonly #watchers = new Set<Watcher>();
  readonly #past = new Map<string, Past>();
  #timer: NodeJS.Timeout | undefined;
  #isSampling = false;
  /** Not before this: who comes and goes does not make it work more. */
  #restsUntil = 0;
  #isClosed = false;

  constructor(options: SamplerOptions) {
    this.#options = options;
  }

  /** The points so far, the oldest first. */
  points(schema: string): readonly Point[] {
    return this.#pastOf(schema).points;
  }

  /** Returns a function that ends it. */
  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    const { last } = this.#pastOf(watcher.schema);
    // Whoever comes into the rest gets what was seen last.
    const isFresh = this.#restsUntil > performance.now();
    if (last !== undefined && isFresh) watcher.take(last);
    if (!this.#isSampling) this.#schedule(Math.max(0, this.#restsUntil - performance.now()));
    return () => {
      this.#watchers.delete(watcher);
    };
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #schedule(afterMs: number): void {
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#step(), afterMs);
    this.#timer.unref();
  }

  async #step(): Promise<void> {
    if (this.#watchers.size === 0) return;
    this.#isSampling = true;
    const begun = performance.now();
    for (const schema of new Set([...this.#watchers].map((each) => each.schema))) await this.#sample(schema);
    this.#isSampling = false;
    const took = performance.now() - begun;
    const rest = Math.max(this.#options.everyMs - took, took * restFactor);
    this.#restsUntil = performance.now() + rest;
    this.#schedule(rest);
  }

  async #sample(schema: string): Promise<void> {
    const those = () => [...this.#watchers].filter((each) => each.schema === schema);
    let sample: Sample;
    try {
      const withLoad = those().some(({ watchesLoad }) => watchesLoad);
      const read = await this.#options.read(schema);
      const overview = withLoad ? { ...read, load: await this.#load(schema) } : read;
      const past = this.#pastOf(schema);
      const point = pointOf(overview, past.overview);
      past.overview = overview;
      past.points.push(point);
      if (past.points.length > mostPoints) past.points.shift();
      sample = { overview, point };
    } catch (error) {
      sample = { error: this.#options.describe(error) };
    }
    this.#pastOf(schema).last = sample;
    for (const watcher of those()) watcher.take(sample);
  }

  /** The heat map, or the last one while it rests. */
  async #load(schema: string): Promise<readonly LoadCell[]> {
    const past = this.#pastOf(schema);
    const begun = performance.now();
    if (past.load !== undefined && past.load.restsUntil > begun) return past.load.cells;
    const cells = await this.#options.readLoad(schema);
    const now = performance.now();
    past.load = { cells, restsUntil: now + (now - begun) * loadRestFactor };
    return cells;
  }

  #pastOf(schema: string): Past {
    const past = this.#past.get(schema) ?? {
      points: [],
      overview: undefined,
      last: undefined,
      load: undefined,
    };
    this.#past.set(schema, past);
    return past;
  }
}

export function pointOf(now: Overview, before: Overview | undefined): Point {
  const seconds = before === undefined ? 0 : (Date.parse(now.at) - Date.parse(before.at)) / 1000;
  const rate = (name: 'handled' | 'failed' | 'published') => {
    if (before === undefined || seconds <= 0) return 0;
    // By instance: one that has ended takes its count with it, and one that is new began at zero.
    const known = new Map(before.instances.map((each) => [each.instanceId, Number(each[name] ?? 0)]));
    const grown = now.instances.map((each) => Number(each[name] ?? 0) - (known.get(each.instanceId) ?? 0));
    return grown.reduce((sum, each) => sum + Math.max(each, 0), 0) / seconds;
  };
  return {
    at: now.at,
    handled: rate('handled'),
    failed: rate('failed'),
    published: rate('published'),
    lanes: Object.fromEntries(
      now.lanes.map(({ lane, dueStreams, oldestDueAt, deadLetters }) => [
        lane,
        {
          due: dueStreams,
          ageSeconds:
            oldestDueAt === null ? 0 : Math.max(0, Date.parse(now.at) - Date.parse(oldestDueAt)) / 1000,
          dead: deadLetters,
        },
      ]),
    ),
  };
}
