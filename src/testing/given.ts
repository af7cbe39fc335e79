// Tests of deciders and perspectives, without a database: given these events, then that.
// In: events that definitions have made. Out: nothing, or an AssertionError that shows the difference.
// The events are validated as if they were stored, and folded by the code that production uses.
import { WhizbangError } from '../errors.js';
import type { Decider, KeyedPerspective, ModelPerspective, Perspective } from '../fold/index.js';
import type { MessageToSend } from '../messages/index.js';
import { GivenEvents } from './given-events.js';
import { GivenModels } from './given-models.js';

/**
 * Begins a test of a decider: `await given(Order, [OrderPlaced({ … })]).when((order) => pay(order)).then([…])`.
 * Or of a perspective: `await given(orders, [OrderPlaced({ … })]).then('order-1', { status: 'placed' })`.
 */
export function given<State>(
  decider: Decider<State>,
  events: readonly MessageToSend<'event'>[],
): GivenEvents<State>;
export function given<Model>(
  perspective: Perspective<Model, never> | Perspective<Model> | KeyedPerspective<Model>,
  events: readonly MessageToSend<'event'>[],
): GivenModels<Model>;
export function given(
  folder: Decider<unknown> | ModelPerspective<unknown>,
  events: readonly MessageToSend<'event'>[],
): GivenEvents<unknown> | GivenModels<unknown> {
  if (!Array.isArray(events)) {
    throw new WhizbangError('INVALID_OPTION', {
      message: 'given: the events are not a list.',
      hint: 'Write given(Order, [OrderPlaced({ … })]), or [] for none.',
      details: { option: 'events' },
    });
  }
  return 'kind' in folder ? new GivenModels(folder, events) : new GivenEvents(folder, events);
}
