import { randomUUID } from 'node:crypto';
import type { Queryable } from '../database/index.js';
import type { InstanceId } from '../message.js';
import { whizbangOptions } from '../options.js';
import type { WhizbangOptions } from '../runtime/index.js';
import { Whizbang } from '../whizbang.js';
import type { Failure } from './mishaps.js';
import { SeverablePool } from './severable-pool.js';

interface KitWorkerOptions<Tx> {
  readonly connectionString: string;
  readonly whizbang: Omit<WhizbangOptions<Tx>, 'pool' | 'connectionString'>;
  readonly onFailure: (failure: Failure) => void;
}

/** One running instance of the service under test, which can be frozen or killed. */
export class KitWorker<Tx> {
  readonly instanceId: InstanceId;
  readonly #pool: SeverablePool;
  readonly #whizbang: Whizbang<Tx>;
  #isDead = false;

  private constructor(options: KitWorkerOptions<Tx>) {
    const { concurrency = whizbangOptions.concurrency.default } = options.whizbang;
    // Connections besides those for receptors: the loop, the transport, LISTEN, sending.
    this.#pool = new SeverablePool(options.connectionString, `whizbang kit ${randomUUID()}`, concurrency + 4);
    this.#whizbang = new Whizbang<Tx>({ ...options.whizbang, pool: this.#pool } as WhizbangOptions<Tx>);
    this.instanceId = this.#whizbang.coordinator.instance.instanceId;
    const note = (isFinal: boolean) => (event: Omit<Failure, 'isFinal'>) => {
      // A dead process reports nothing about its last moments.
      if (this.#isDead) return;
      const { source, messageId, receptor, attempt, error } = event;
      options.onFailure({ source, messageId, receptor, attempt, error, isFinal });
    };
    this.#whizbang.on('failure', note(false)).on('deadLetter', note(true));
  }

  static async start<Tx>(options: KitWorkerOptions<Tx>): Promise<KitWorker<Tx>> {
    const worker = new KitWorker<Tx>(options);
    await worker.#whizbang.start();
    return worker;
  }

  freeze(): void {
    this.#pool.freeze();
  }

  thaw(): void {
    this.#pool.thaw();
  }

  /**
   * Kills the instance as kill -9 does: its transactions are rolled back, its messages stay leased, nothing
   * is reported.
   */
  async die(admin: Queryable, atLast: () => void): Promise<void> {
    this.#isDead = true;
    await this.#pool.cut(admin);
    atLast();
    await this.#whizbang.stop({ seconds: 0 });
    this.#pool.end();
  }

  async stop(): Promise<void> {
    await this.#whizbang.stop();
    this.#pool.end();
  }
}
