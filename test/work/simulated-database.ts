// The database as the processor sees it: hands out the first messages of streams in which nothing is leased, takes
// reports, and lets leases end. It judges what it is told: a report for a message that is not leased, or out of turn.
export class SimulatedDatabase {
  readonly stored: Readonly<Record<string, readonly string[]>>;
  readonly completed: Record<string, string[]> = {};
  readonly violations: string[] = [];
  readonly #waiting = new Map<string, string[]>();
  readonly #leased = new Map<string, string[]>();

  constructor(lengths: Readonly<Record<string, number>>) {
    const streams = Object.entries(lengths).map(
      ([name, length]) => [name, Array.from({ length }, (_, i) => `${name}${i + 1}`)] as const,
    );
    this.stored = Object.fromEntries(streams);
    for (const [name, ids] of streams) {
      this.#waiting.set(name, [...ids]);
      this.completed[name] = [];
    }
  }

  get isEmpty(): boolean {
    return [...this.#waiting.values()].every((ids) => ids.length === 0);
  }

  claim(perStream: number): string[] {
    const free = [...this.#waiting].filter(([name]) => !this.#leased.get(name)?.length);
    return free.flatMap(([name, ids]) => {
      const leased = ids.slice(0, perStream);
      this.#leased.set(name, [...leased]);
      return leased;
    });
  }

  /** The lease of one stream ends; returns what was leased there. */
  expire(which: number): string[] {
    const names = [...this.#leased.keys()];
    return this.#leased.get(names[which % Math.max(names.length, 1)] ?? '') ?? [];
  }

  report(id: string, kind: string): void {
    const name = id.charAt(0);
    const leased = this.#leased.get(name) ?? [];
    if (!leased.includes(id)) this.violations.push(`${kind} ${id}, which is not leased`);
    this.#leased.set(
      name,
      leased.filter((other) => other !== id),
    );
    if (kind !== 'completed') return;
    const waiting = this.#waiting.get(name) ?? [];
    if (waiting[0] !== id) this.violations.push(`completed ${id} before ${waiting[0]}`);
    waiting.splice(waiting.indexOf(id), 1);
    this.completed[name]?.push(id);
  }
}
