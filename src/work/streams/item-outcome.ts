import type { StatusBits } from '../../message.js';

/** What became of an item. After `completed` and `settled` its stream goes on; after the others the rest is given back. */
export type ItemOutcome =
  /** The stages now done: only the new bits, those that the item came with need not be repeated. To be reported. */
  | { readonly kind: 'completed'; readonly status: StatusBits }
  /** Done, and recorded in a transaction of its own. Nothing is left to report. */
  | { readonly kind: 'settled' }
  /** `completedStatus`: the stages that were done before it failed, so that only the missing ones run again. */
  | { readonly kind: 'failed'; readonly completedStatus: StatusBits; readonly error: unknown }
  /** To be given back, untouched. */
  | { readonly kind: 'released' }
  /** The lease is lost. Nothing may be reported. */
  | { readonly kind: 'forgotten' };
