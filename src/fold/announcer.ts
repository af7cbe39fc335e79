import type { EventDefinition } from '../messages/index.js';
import { refuseNoEvent, refuseNoFunction } from './event-steps.js';

/** An event that a perspective publishes when a model has changed. */
export interface Announcer {
  readonly definition: EventDefinition;
  /** Returns the payload; undefined: nothing is announced. */
  readonly make: (model: unknown, before: unknown) => unknown;
}

export function withAnnouncer(
  owner: string,
  announcers: readonly Announcer[],
  definition: EventDefinition,
  make: unknown,
): readonly Announcer[] {
  refuseNoEvent(owner, definition);
  refuseNoFunction(owner, 'make', make, `.announces(${definition.type}, (model, before) => ({ … }))`);
  return Object.freeze([...announcers, { definition, make: make as Announcer['make'] }]);
}
