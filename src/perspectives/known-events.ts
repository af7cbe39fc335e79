// What the code of this instance has a function for. The types that are read are those of the newest code of a version:
// while a service is replaced, older code meets new types. It must not pass them by.
import { foldFailed, type ModelPerspective, type ModelResult, type StoredEvent } from '../fold/index.js';

type Held = Extract<ModelResult<unknown>, { kind: 'held' }>;

interface KnownEvents {
  readonly known: readonly StoredEvent[];
  /** Of each stream the first event that there is no function for. What follows it is left out too. */
  readonly strange: readonly Held[];
}

export function knownEvents(
  perspective: ModelPerspective<unknown>,
  events: readonly StoredEvent[],
): KnownEvents {
  const strange = new Map<string, Held>();
  const known = events.filter((event) => {
    const { streamId, type } = event;
    if (!strange.has(streamId) && !perspective.steps.has(type))
      strange.set(streamId, strangeEvent(perspective, event));
    return !strange.has(streamId);
  });
  return { known, strange: [...strange.values()] };
}

export function strangeEvent({ name }: { readonly name: string }, event: StoredEvent): Held {
  const hint =
    'Other instances have newer code under the same version. Raise the version when the functions change.';
  const error = foldFailed(name, event, { fact: 'is missing in the code of this instance', hint });
  return { kind: 'held', id: null, streamId: event.streamId, event, error };
}
