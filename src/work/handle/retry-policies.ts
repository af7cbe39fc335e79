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
  readonly #byReceptor: ReadonlyMap<Receptor<Tx>, RetryPolicy>;

  constructor(owner: string, receptors: readonly Receptor<Tx>[], retry: Partial<RetryPolicy>) {
    const otherwise = resolveRetryPolicy(owner, retry);
    this.#default = otherwise;
    this.#byReceptor = new Map(
      receptors.map((receptor) => [receptor, resolveRetryPolicy(receptor.name, receptor.retry, otherwise)]),
    );
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

  /** Number of times that an instance may die or stall with a message before it becomes a dead letter. */
  maxInterruptions(receptors: readonly Receptor<Tx>[]): number {
    return Math.max(fewestInterruptions, ...receptors.map((receptor) => this.#of(receptor).attempts));
  }

  #of(receptor: Receptor<Tx> | undefined): RetryPolicy {
    return (receptor === undefined ? undefined : this.#byReceptor.get(receptor)) ?? this.#default;
  }
}
