import type { TransportTraits } from '../../../src/transports/index.js';
import type { Lacking, TransportSubject } from '../subject.js';
import { World } from '../world.js';

/** What a case needs of a transport. Where that is missing, it is skipped with the reason. */
export interface Needs {
  readonly lacking?: readonly (keyof Lacking)[];
  readonly moves?: readonly TransportTraits['moves'][];
}

/** Declares a case with a world of its own. */
export type Trial = (
  name: string,
  body: (world: World) => Promise<void>,
  needs?: keyof Lacking | Needs,
) => void;

/** A case as data: it can be run by a test, or against a transport that has to fail it. */
interface Case {
  readonly name: string;
  readonly body: (world: World) => Promise<void>;
  readonly needs: Needs;
}

export function casesOf(section: (trial: Trial) => void): readonly Case[] {
  const cases: Case[] = [];
  section((name, body, needs = {}) => {
    cases.push({ name, body, needs: typeof needs === 'string' ? { lacking: [needs] } : needs });
  });
  return cases;
}

type Result =
  | { readonly kind: 'passed' }
  /** Without a `reason`, nobody has said why the subject cannot stage it. */
  | { readonly kind: 'skipped'; readonly what: string; readonly reason?: string | undefined };

/** Runs a case, with as much patience for what has to come as is given. Rejects when the transport is wrong. */
export async function runCase(
  { body, needs }: Case,
  makeSubject: () => Promise<TransportSubject>,
  lacking: Lacking,
  patienceMs?: number,
): Promise<Result> {
  for (const what of needs.lacking ?? []) {
    const reason = lacking[what];
    if (reason !== undefined) return { kind: 'skipped', what, reason };
  }
  await using world = new World(await makeSubject(), patienceMs);
  const { moves } = world.traits;
  if (needs.moves !== undefined && !needs.moves.includes(moves)) {
    return { kind: 'skipped', what: 'moves', reason: `what moves between its instances is a ${moves}` };
  }
  for (const what of needs.lacking ?? []) {
    if (!(await world.stages(what))) return { kind: 'skipped', what };
  }
  await body(world);
  return { kind: 'passed' };
}
