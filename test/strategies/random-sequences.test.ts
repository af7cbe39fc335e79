// Random sequences of queue, flush, withdraw, pause and dispose, over two strategies of one line, while calls fail.
// Judged at the end: nothing lost, nothing twice, order kept, every item handed out once.
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { WhizbangError } from '../../src/errors.js';
import type { NewOutboxMessage } from '../../src/message.js';
import {
  CallLine,
  createStrategy,
  type QueuedUnit,
  type StrategyName,
  type WorkCoordinatorStrategy,
} from '../../src/strategies/index.js';
import { ScriptedCoordinator, type Verdict } from './scripted-coordinator.js';

type Step =
  | { readonly do: 'queue'; readonly on: number; readonly messages: number; readonly poison: boolean }
  | { readonly do: 'flush' | 'dispose'; readonly on: number }
  | { readonly do: 'withdraw'; readonly unit: number }
  | { readonly do: 'pause'; readonly turns: number };

const on = fc.nat(1);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('queue' as const),
      on,
      // Sometimes enough for several calls.
      messages: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 3 }) }, fc.constant(600)),
      poison: fc.integer({ min: 1, max: 8 }).map((n) => n === 1),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('flush' as const), on }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('pause' as const), turns: fc.integer({ min: 1, max: 6 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('withdraw' as const), unit: fc.nat(40) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('dispose' as const), on }) },
);
const verdict = fc.constantFrom<Verdict>('answered', 'answered', 'unsent', 'unanswered');
const name = fc.constantFrom<StrategyName>('immediate', 'scoped', 'interval');

interface Sent {
  readonly by: number;
  readonly ids: readonly string[];
  readonly isPoison: boolean;
  readonly unit: QueuedUnit;
  fate: 'open' | 'carried' | WhizbangError;
  isWithdrawn: boolean;
}

it('no sequence of steps and failures loses, doubles or reorders anything', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(name, name),
      fc.array(step, { maxLength: 40 }),
      fc.array(verdict, { maxLength: 30 }),
      async (names, steps, script) => {
        const play = new Play(names, script);
        for (const each of steps) await play.take(each);
        await play.end();
        play.judge();
      },
    ),
    { numRuns: 500 },
  );
});

class Play {
  readonly #coordinator: ScriptedCoordinator;
  readonly #strategies: WorkCoordinatorStrategy[];
  readonly #sent: Sent[] = [];
  readonly #received: string[] = [];
  readonly #flushes: Promise<void>[] = [];
  /** Strategies whose last flush failed: only they may leave something behind. */
  readonly #broken = new Set<number>();
  #ids = 0;

  constructor(names: readonly StrategyName[], script: readonly Verdict[]) {
    this.#coordinator = new ScriptedCoordinator(script);
    const line = new CallLine({ coordinator: this.#coordinator });
    this.#strategies = names.map((each) =>
      createStrategy(each, { line, intervalMs: 1, maxQueued: 5, onError: () => {} }),
    );
  }

  async take(each: Step): Promise<void> {
    if (each.do === 'queue') this.#queue(each.on, each.messages, each.poison);
    else if (each.do === 'flush') this.#flush(each.on);
    else if (each.do === 'withdraw') this.#withdraw(each.unit);
    else if (each.do === 'pause') for (let i = 0; i < each.turns; i++) await turn();
    else this.#dispose(each.on);
  }

  #queue(by: number, messages: number, isPoison: boolean): void {
    const ids = Array.from({ length: messages }, () => String(++this.#ids));
    const newOutboxMessages = ids.map(
      (messageId) => ({ messageId, eventData: isPoison ? 'poison' : '' }) as NewOutboxMessage,
    );
    let unit: QueuedUnit;
    try {
      unit = (this.#strategies[by] as WorkCoordinatorStrategy).queue({ newOutboxMessages });
    } catch (error) {
      expect(error).toMatchObject({ code: 'DISPOSED' });
      return;
    }
    const sent: Sent = { by, ids, isPoison, unit, fate: 'open', isWithdrawn: false };
    this.#sent.push(sent);
    unit.carried.then(
      () => {
        sent.fate = 'carried';
      },
      (error: WhizbangError) => {
        sent.fate = error;
      },
    );
  }

  #flush(by: number): void {
    const flushing = this.#strategies[by]?.flush().then(
      ({ outbox }) => {
        for (const { messageId } of outbox) this.#received.push(messageId);
      },
      () => {},
    );
    if (flushing !== undefined) this.#flushes.push(flushing);
  }

  #withdraw(index: number): void {
    const sent = this.#sent[index];
    if (sent?.unit.withdraw()) sent.isWithdrawn = true;
  }

  #dispose(by: number): void {
    const disposing = this.#strategies[by]?.dispose().catch(() => {
      this.#broken.add(by);
    });
    if (disposing !== undefined) this.#flushes.push(disposing);
  }

  async end(): Promise<void> {
    this.#coordinator.heal();
    this.#dispose(0);
    this.#dispose(1);
    await Promise.all(this.#flushes);
    await turn();
  }

  judge(): void {
    const { stored, violations, handedOut } = this.#coordinator;
    expect(violations).toEqual([]);
    const places = new Map(stored.map((id, place) => [id, place]));
    for (const sent of this.#sent) expect(verdictOn(sent, places, this.#broken)).toBe('as it should be');
    for (const by of [0, 1]) {
      const order = this.#sent.filter((sent) => sent.by === by).flatMap(({ ids }) => ids);
      const actual = order.filter((id) => places.has(id)).map((id) => places.get(id) ?? -1);
      expect(actual).toEqual([...actual].sort((a, b) => a - b));
    }
    expect([...this.#received].sort()).toEqual([...handedOut].sort());
  }
}

function verdictOn(sent: Sent, places: ReadonlyMap<string, number>, broken: ReadonlySet<number>): string {
  const { fate, isPoison, isWithdrawn, ids } = sent;
  const storedCount = ids.filter((id) => places.has(id)).length;
  if (storedCount !== 0 && storedCount !== ids.length) return 'a unit was split';
  if (fate === 'open') return 'it never heard';
  if (fate === 'carried') return storedCount > 0 && !isPoison ? 'as it should be' : 'carried, and not there';
  if (fate.code === 'INVALID_REQUEST') return isPoison ? 'as it should be' : 'refused, and not bad';
  // Withdrawn or given up after an answer was lost: then it may be there.
  if (fate.code === 'DISPOSED') return isWithdrawn || broken.has(sent.by) ? 'as it should be' : 'dropped';
  return `a code that was not expected: ${fate.code}`;
}
