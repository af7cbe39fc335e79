export interface Plan {
  readonly connectionString: string;
  /** How many messages before each sample. */
  readonly parts: readonly number[];
}

export interface Sample {
  readonly handled: number;
  /** Bytes. */
  readonly live: number;
}
