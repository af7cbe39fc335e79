import { setTimeout as pause } from 'node:timers/promises';
import { startProgram } from '../crashes/support/process.js';
import type { JourneyPlan, Way } from './plan.js';
import { stallMs } from './size.js';

type Role = JourneyPlan['role'];
type Instance = Awaited<ReturnType<typeof startProgram>>;

/** The instances of both services, each a process of its own. */
export class Crew implements AsyncDisposable {
  readonly #databases: Readonly<Record<Role, string>>;
  readonly #way: (role: Role) => Way;
  readonly #working: Record<Role, Instance[]> = { shop: [], till: [] };
  #started = 0;
  #fail: (error: Error) => void = () => {};
  /** Rejects when an instance ends that nobody has killed. */
  readonly failure = new Promise<never>((_, reject) => {
    this.#fail = reject;
  });

  constructor({ databases, way }: { databases: Readonly<Record<Role, string>>; way: (role: Role) => Way }) {
    this.#databases = databases;
    this.#way = way;
    this.failure.catch(() => {});
  }

  async start(role: Role): Promise<void> {
    const name = `${role}-${++this.#started}`;
    const plan: JourneyPlan = { connectionString: this.#databases[role], name, role, way: this.#way(role) };
    const instance = await startProgram(new URL('program.ts', import.meta.url), plan);
    this.#working[role].push(instance);
    void instance.ended.then((how) => {
      if (this.#working[role].includes(instance)) this.#fail(new Error(`The instance ${name} ended: ${how}`));
    });
  }

  /** The one that has run longest is killed, and a new one starts in its place. */
  async kill(role: Role): Promise<void> {
    await using victim = this.#working[role].shift();
    victim?.signal('SIGKILL');
    await victim?.ended;
    await this.start(role);
  }

  /** The one that has run longest stands still for longer than its lease, and goes on. */
  async stall(role: Role): Promise<void> {
    const [victim] = this.#working[role];
    victim?.signal('SIGSTOP');
    await victim?.untilStopped();
    await pause(stallMs);
    victim?.signal('SIGCONT');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#working.shop.splice(0), ...this.#working.till.splice(0)];
    for (const each of all) await each[Symbol.asyncDispose]();
  }
}
