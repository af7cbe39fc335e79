// The perspectives of an instance, by their code: name and version.
import type { PerspectiveFacts } from '../coordinator/index.js';
import type { CustomPerspective, ModelPerspective } from '../fold/index.js';
import { invalidOption } from '../options.js';

/** A perspective of any kind. `Tx` is the transaction of those made by `perspectiveFor`. */
// biome-ignore lint/suspicious/noExplicitAny: a list holds perspectives of different models
export type AnyPerspective<Tx = any> = ModelPerspective<any> | CustomPerspective<Tx>;

export class PerspectiveRegistry<Tx> {
  readonly #byCode = new Map<string, AnyPerspective<Tx>>();

  constructor(perspectives: readonly AnyPerspective<Tx>[]) {
    const names = new Set<string>();
    for (const perspective of perspectives) {
      const { name, steps } = perspective;
      if (names.has(name)) {
        const hint = 'Give each perspective a name of its own. An instance has one version of each.';
        throw invalidOption('createWhizbang', 'perspectives', `two perspectives are named ${name}`, hint);
      }
      if (steps.size === 0) {
        const hint = `Add the events that it follows from: ${name}.on(…).`;
        throw invalidOption('createWhizbang', 'perspectives', `${name} reads no event`, hint);
      }
      names.add(name);
      this.#byCode.set(codeOf(perspective), perspective);
    }
  }

  get isEmpty(): boolean {
    return this.#byCode.size === 0;
  }

  /** What the instance has code for: `orders@2`. */
  get codes(): readonly string[] {
    return [...this.#byCode.keys()];
  }

  get all(): readonly AnyPerspective<Tx>[] {
    return [...this.#byCode.values()];
  }

  /** The perspective of a build: that of `orders@2` and `orders@2.3` is `orders@2`. */
  of(build: string): AnyPerspective<Tx> | undefined {
    return this.#byCode.get(build.replace(/\.\d+$/, ''));
  }
}

export function codeOf({ name, version }: AnyPerspective): string {
  return `${name}@${version}`;
}

export function factsOf(perspective: AnyPerspective): PerspectiveFacts {
  const { name, version, kind, fingerprint, eventTypes } = perspective;
  const { columns = {}, indexes = [] } = kind === 'custom' ? {} : perspective;
  return {
    name,
    version,
    kind,
    is_inline: kind === 'stream' && perspective.inline,
    event_types: eventTypes,
    fingerprint,
    columns,
    indexes,
  };
}
