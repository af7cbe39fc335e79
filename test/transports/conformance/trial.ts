import { it } from 'vitest';
import type { Lacking, TransportSubject } from '../subject.js';
import { World } from '../world.js';

/** Declares a test with a world of its own, skipped with its reason where the transport lacks what it needs. */
export type Trial = (name: string, body: (world: World) => Promise<void>, needs?: keyof Lacking) => void;

export function trialOf(makeSubject: () => Promise<TransportSubject>, lacking: Lacking): Trial {
  return (name, body, needs) =>
    it(name, async (context) => {
      const reason = needs === undefined ? undefined : lacking[needs];
      if (reason !== undefined) context.skip(reason);
      await using world = new World(await makeSubject());
      await body(world);
    });
}
