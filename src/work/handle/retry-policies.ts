import {
  isFinalError,
  type Receptor,
  type RetryPolicy,
  resolveRetryPolicy,
  retryDelaySeconds,
} from '../../receptors/index.js';

/** Smallest limit of interruptions: one death of an instance makes no dead letter, whatever the attempts. */
const fewestInterruptions = 3;

/** Retry policies by receptor. An undefined receptor stands for sending to the transport. */
export class RetryPolicies<Tx> {
  readonly #default: RetryPolicy;
  readonly #byReceptor = new Map<Receptor<Tx>, RetryPolicy>();

  constructor(owner: string, retry: Partial<RetryPolicy>) {
    this.#default = resolveRetryPolicy(owner, retry);
  }

  add(receptor: Receptor<Tx>): void {
    this.#byReceptor.set(receptor, resolveRetryPolicy(receptor.name, receptor.retry, this.#default));
  }

  /** Returns the delay after this attempt, which failed. Undefined: it was the last one. */
  delayAfter(
    receptor: Receptor<Tx> | undefined,
    attempt: number,
    error: unknown,
    isFinal: boolean,
  ): number | undefined {
    const policy = this.#of(receptor);
    if (isFinal || isFinalError(policy, error) || attempt >= policy.attempts) return undefined;
    return retryDelaySeconds(policy, attempt);
  }

  /** Whether the receptor is given up when this attempt fails. */
  isLast(receptor: Receptor<Tx>, attempt: number): boolean {
    return attempt >= this.#of(receptor).attempts;
  }

  /**
   * Returns the delay before a message is tried to be given up once more. It grows with the time for which that has
   * been tried: each delay is about as long as all before together.
   */
  delayOfGivingUp(receptor: Receptor<Tx> | undefined, triedSeconds: number): number {
    const { firstDelaySeconds, maxDelaySeconds } = this.#of(receptor);
    return Math.min(Math.max(triedSeconds, firstDelaySeconds), maxDelaySeconds);
  }

  /** Number of times that an instance may die or stall with a message before it becomes a dead letter. */
  maxInterruptions(receptors: readonly Receptor<Tx>[]): number {
    return Math.max(fewestInterruptions, ...receptors.map((receptor) => this.#of(receptor).attempts));
  }

  #of(receptor: Receptor<Tx> | undefined): RetryPolicy {
    return (receptor === undefined ? undefined : this.#byReceptor.get(receptor)) ?? this.#default;
  }
}
