// What deciders and perspectives have in common: functions by the type of an event, and a name for that code.
import { createHash } from 'node:crypto';
import { type EventDefinition, isEventDefinition } from '../messages/index.js';
import { invalidOption } from '../options.js';

/** Steps by the type of their event, also by its earlier names. */
export type StepsByType<Step> = ReadonlyMap<string, Step>;

/** Adds a step. Refuses what is no event, and an event that has a step already. */
export function withStep<Step extends { readonly definition: EventDefinition }>(
  owner: string,
  steps: StepsByType<Step>,
  step: Step,
): StepsByType<Step> {
  const { definition } = step;
  refuseNoEvent(owner, definition);
  const names = [definition.type, ...definition.formerly];
  const twice = names.find((type) => steps.has(type));
  if (twice !== undefined) {
    const hint = 'An event has one function.';
    throw invalidOption(owner, 'definition', `${twice} has a function already`, hint);
  }
  return new Map([...steps, ...names.map((type) => [type, step] as const)]);
}

export function refuseNoEvent(owner: string, definition: unknown): void {
  if (isEventDefinition(definition)) return;
  const hint = 'Give what defineEvent has returned.';
  throw invalidOption(owner, 'definition', 'the first argument is not an event definition', hint);
}

/** Refuses what is no function. `example` shows how it is written. */
export function refuseNoFunction(owner: string, option: string, given: unknown, example: string): void {
  if (typeof given === 'function') return;
  throw invalidOption(owner, option, `${option} is not a function`, `For example ${example}.`);
}

/** The same for the same code: `facts` are the texts and values of all that decides what events become. */
export function fingerprintOf(version: number, facts: readonly unknown[]): string {
  const text = JSON.stringify([version, ...facts], (_, value: unknown) =>
    typeof value === 'bigint' ? `${value}n` : value,
  );
  return `${version}:${createHash('sha256').update(text).digest('base64url').slice(0, 22)}`;
}
