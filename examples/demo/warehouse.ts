// The warehouse's processes, seen from the demo: starts them, reports their state, and makes sure that none
// is left behind.
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { newMessageId } from '../../src/index.js';

export interface InstanceSettings {
  readonly name: string;
  readonly instanceId: string;
  readonly connectionString: string;
  readonly seed: number;
  readonly leaseSeconds: number;
}

export type FromInstance =
  | { readonly kind: 'ready' }
  | { readonly kind: 'retry' }
  | { readonly kind: 'lost'; readonly count: number }
  | { readonly kind: 'warning'; readonly text: string };

export type InstanceState = 'starting' | 'running' | 'killed' | 'stalled' | 'back' | 'stopped' | 'ended';

/**
 * The end of the statement of a receptor that will not fail, so that pg_stat_activity shows which sessions
 * are in the middle of one.
 */
export const willSucceed = '-- will succeed';

const program = fileURLToPath(new URL('./warehouse-instance.ts', import.meta.url));
/**
 * A watchdog script. A stopped process cannot detect that its parent is gone. The watchdog can: its end of
 * the pipe closes.
 */
const watch = 'read -r finished && exit 0; kill -KILL "$1"';

export class WarehouseInstance {
  readonly name: string;
  readonly instanceId: string;
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  #watchdog: ChildProcess | undefined;
  state: InstanceState = 'starting';
  retries = 0;
  /** Messages that it held in memory and whose lease it lost. */
  lost = 0;

  constructor(settings: Omit<InstanceSettings, 'instanceId'>, onWarning: (text: string) => void) {
    this.name = settings.name;
    this.instanceId = newMessageId();
    const given: InstanceSettings = { ...settings, instanceId: this.instanceId };
    this.#child = fork(program, {
      execArgv: ['--import', 'tsx'],
      env: { ...process.env, WHIZBANG_DEMO_INSTANCE: JSON.stringify(given) },
    });
    this.#exited = once(this.#child, 'exit').then(() => {
      if (this.state !== 'killed' && this.state !== 'stopped') this.state = 'ended';
    });
    this.#child.on('message', (message: FromInstance) => {
      if (message.kind === 'ready') this.state = 'running';
      else if (message.kind === 'retry') this.retries++;
      else if (message.kind === 'lost') this.lost += message.count;
      else onWarning(`${this.name}: ${message.text}`);
    });
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  async ready(): Promise<void> {
    while (this.state === 'starting') await Promise.race([once(this.#child, 'message'), this.#exited]);
    if (this.state !== 'running') throw new Error(`${this.name} ended before it was ready`);
  }

  /** Freezes it by SIGSTOP, whatever it does, with its connections and transactions open. */
  freeze(): void {
    this.#watchdog = spawn('/bin/sh', ['-c', watch, 'demo-watchdog', String(this.pid)], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.#child.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child.kill('SIGCONT');
    this.#watchdog?.stdin?.end('finished\n');
    this.#watchdog = undefined;
  }

  async kill(): Promise<void> {
    if (this.state !== 'stopped') this.state = 'killed';
    this.#child.kill('SIGKILL');
    await this.#exited;
    this.#watchdog?.stdin?.end('finished\n');
  }

  /** Asks it to finish and waits for it, for a limited time. */
  async stop(): Promise<void> {
    if (this.state === 'killed' || this.state === 'ended') return;
    this.state = 'stopped';
    if (this.#watchdog !== undefined) this.thaw();
    if (this.#child.connected) this.#child.send('stop');
    const timer = setTimeout(() => void this.kill(), 10_000);
    await this.#exited;
    clearTimeout(timer);
  }
}
