import { WhizbangError } from '../errors.js';
import { refuseUnknownKeys } from '../options.js';
import type { WorkUnit } from './strategy.js';

const parts = [
  'newOutboxMessages',
  'newInboxMessages',
  'outboxCompletions',
  'outboxFailures',
  'inboxCompletions',
  'inboxFailures',
  'receptorCompletions',
  'receptorFailures',
  'renewOutboxLeaseIds',
  'renewInboxLeaseIds',
] as const satisfies readonly (keyof WorkUnit)[];

/** Refuses unknown parts: a misspelt one would be dropped silently when the call is put together. */
export function checkUnit(unit: WorkUnit): void {
  refuseUnknownKeys('WorkUnit', { ...unit }, parts);
  for (const part of parts) {
    if (unit[part] === undefined || Array.isArray(unit[part])) continue;
    throw new WhizbangError('INVALID_REQUEST', {
      message: `${part} is not an array.`,
      details: { field: part },
    });
  }
}

/**
 * Counts the messages, reports and renewals of a unit. An
 * empty unit counts as one, so that a call stays bounded.
 */
export function sizeOf(unit: WorkUnit): number {
  return parts.reduce((size, part) => size + (unit[part]?.length ?? 0), 0) || 1;
}

/** Merges units into one, part by part in their order. */
export function mergeUnits(units: readonly WorkUnit[]): WorkUnit {
  if (units.length === 1) return units[0] as WorkUnit;
  const merged: Partial<Record<keyof WorkUnit, unknown[]>> = {};
  for (const unit of units) {
    for (const part of parts) {
      const items = unit[part];
      if (items === undefined || items.length === 0) continue;
      merged[part] ??= [];
      for (const item of items) merged[part].push(item);
    }
  }
  return merged as WorkUnit;
}
