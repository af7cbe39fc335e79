import type { Accident } from './accident.js';

/** What a process of the crash tests is told to be. */
export interface Plan {
  readonly connectionString: string;
  /** Written beside its effects. */
  readonly name?: string;
  /** `shop` handles orders; `till` has no receptors, so it only publishes what is in the outbox. */
  readonly role?: 'shop' | 'till';
  readonly accident?: Accident;
  readonly handlerMs?: number;
  /** Its first receptor changes a row that all others change too. */
  readonly takesFromStock?: boolean;
  readonly concurrency?: number;
  /** 1: each message has a transaction of its own, however many wait. */
  readonly groupSize?: number;
  /** Default: `short`. */
  readonly leases?: 'short' | 'long';
  /** The receptors of the event, when there are several. */
  readonly noting?: readonly string[];
  /** Those of them that fail at their first attempt. */
  readonly failing?: readonly string[];
  /** Those of them that have no transaction. */
  readonly loose?: readonly string[];
  /** Sends through the broker at this port instead of through PostgreSQL. */
  readonly brokerPort?: number;
  /** It does not start, but sends these steps of `order-0` by itself: in a transaction of its own, or without one. */
  readonly places?: { readonly steps: number; readonly inTransaction: boolean };
  /** It does not start, but appends so many events to the stream `order-0`: in a transaction of its own, or without one. */
  readonly appends?: { readonly events: number; readonly inTransaction: boolean };
}
