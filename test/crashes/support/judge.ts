// The one judge of all crash tests.
// In: which orders were placed, and the effects that handlers have committed, in the order of their writing.
// Out: what is missing, what is there twice, what came too early. It asks nobody else: not the inbox, not the instances.

export interface Effect {
  readonly receptor: string;
  readonly stream: string;
  readonly step: number;
}

/** Every receptor is to have handled the steps 1 to `steps` of every stream, once and in this order. */
interface Expected {
  readonly receptors: readonly string[];
  readonly streams: readonly string[];
  readonly steps: number;
}

interface Verdict {
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
  readonly outOfOrder: readonly string[];
  /** Effects of what nobody has sent. */
  readonly invented: readonly string[];
}

export const faultless: Verdict = { lost: [], doubled: [], outOfOrder: [], invented: [] };

export function judge({ receptors, streams, steps }: Expected, effects: readonly Effect[]): Verdict {
  const missing = new Set(
    receptors.flatMap((receptor) =>
      streams.flatMap((stream) =>
        Array.from({ length: steps }, (_, i) => nameOf({ receptor, stream, step: i + 1 })),
      ),
    ),
  );
  const seen = new Set<string>();
  const furthest = new Map<string, number>();
  const doubled: string[] = [];
  const outOfOrder: string[] = [];
  const invented: string[] = [];
  for (const effect of effects) {
    const name = nameOf(effect);
    const lane = `${effect.receptor} ${effect.stream}`;
    if (seen.has(name)) doubled.push(name);
    else if (!missing.delete(name)) invented.push(name);
    else if (effect.step < (furthest.get(lane) ?? 0)) outOfOrder.push(name);
    seen.add(name);
    furthest.set(lane, Math.max(effect.step, furthest.get(lane) ?? 0));
  }
  return { lost: [...missing], doubled, outOfOrder, invented };
}

const nameOf = ({ receptor, stream, step }: Effect) => `${receptor} ${stream}/${step}`;
