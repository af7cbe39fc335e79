import type { Queryable } from '../database/index.js';

/** An object or a function whose shape is examined. */
export type Candidate = Readonly<Record<string, unknown>>;

/**
 * Returns a Queryable when it is a transaction of the family, undefined when it is of another family. Throws
 * when it is of the family but no transaction: a pool, a database, a transaction that has ended.
 */
export type Recognize = (candidate: Candidate) => Queryable | undefined;

export function candidateOf(value: unknown): Candidate | undefined {
  const isOne = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return isOne ? (value as Candidate) : undefined;
}

export function can(candidate: Candidate | undefined, ...methods: string[]): boolean {
  return candidate !== undefined && methods.every((method) => typeof candidate[method] === 'function');
}
