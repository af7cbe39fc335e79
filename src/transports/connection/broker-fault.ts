import { WhizbangError } from '../../errors.js';
import type { BrokerFinding } from '../transport.js';

/** What a check of a topology has refused, as a fault. An outage is thrown again. */
export function faultOf(error: unknown): BrokerFinding {
  if (!(error instanceof WhizbangError) || error.retryable) throw error;
  return { level: 'fault', text: error.message, remedy: error.hint };
}
