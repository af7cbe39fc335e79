import { shortLeases } from '../crashes/support/shop.js';

/**
 * Journeys are short unless they are asked to be long: `WHIZBANG_JOURNEYS=long` takes 20 000 messages over 500 streams with
 * three instances of each service. A long one keeps the machine so busy that leases of two seconds run out while their
 * holders work, again and again: its leases are longer.
 */
const isLong = process.env.WHIZBANG_JOURNEYS === 'long';

export const size = isLong
  ? { instances: 3, streams: 500, steps: 40 }
  : { instances: 2, streams: 20, steps: 20 };

export const leases = isLong
  ? { ...shortLeases, leaseSeconds: 10, renewSeconds: 2, staleThresholdSeconds: 15 }
  : shortLeases;

/** How long a broker keeps for an instance what it has given it. */
export const lockSeconds = isLong ? 10 : 5;

/** Longer than a lease and than the time after which an instance counts as gone. */
export const stallMs = (leases.staleThresholdSeconds + 1) * 1_000;
