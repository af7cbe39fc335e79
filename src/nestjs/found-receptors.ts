// The providers of an application that have methods which are receptors. In: what Nest knows of its providers and
// controllers. Out: receptors that call the methods on them, or a refusal. Called once, before the instance starts.
import type { DiscoveryService } from '@nestjs/core';
import { invalidOption } from '../options.js';
import { batchReceptorFor, type Receptor, receptorFor } from '../receptors/index.js';
import { type Role, rolesOf } from './decorators.js';

type Methods = Readonly<Record<string | symbol, (...args: readonly unknown[]) => unknown>>;
type Provider = ReturnType<DiscoveryService['getProviders']>[number];

export function foundReceptors(providers: readonly Provider[]): Receptor<unknown>[] {
  for (const provider of providers) refuseShortLived(provider);
  const instances = new Set(providers.filter(isKept).map(({ instance }) => instance as unknown));
  return [...instances].filter(isObject).flatMap(receptorsOf);
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const isKept = (provider: Provider): boolean => !provider.isTransient && provider.isDependencyTreeStatic();

/** One that is made for each request, or for each who injects it, has no instance that a message could be given to. */
function refuseShortLived(provider: Provider): void {
  const prototype: unknown = (provider.metatype as { prototype?: unknown } | null)?.prototype;
  if (isKept(provider) || !isObject(prototype)) return;
  const [role] = rolesOf(prototype);
  if (role === undefined) return;
  const fact = `${provider.name} handles ${role.definition.type} and is made anew for each request, or for each that injects it`;
  const hint = 'Messages have no request: give it, and what it injects, the default scope.';
  throw invalidOption('WhizbangModule', provider.name, fact, hint);
}

function receptorsOf(instance: object): Receptor<unknown>[] {
  const roles = rolesOf(Object.getPrototypeOf(instance));
  const handling = roles.filter(({ kind }) => kind !== 'givenUp');
  for (const role of roles.filter(({ kind }) => kind === 'givenUp')) refuseAlone(instance, role, handling);
  return handling.map((role) => receptorOf(instance as Methods, role, roles));
}

const nameOf = ({ options, definition }: Role): unknown => options.name ?? definition.type;
const isGivenUpOf = (role: Role, other: Role): boolean =>
  role.kind === 'givenUp' && nameOf(role) === nameOf(other) && role.definition.type === other.definition.type;

function refuseAlone(instance: object, role: Role, handling: readonly Role[]): void {
  if (handling.some((other) => other.kind === 'message' && isGivenUpOf(role, other))) return;
  const owner = `${instance.constructor.name}.${String(role.method)}`;
  const fact = `no method of the class has @Handles for ${role.definition.type}, named ${String(nameOf(role))}`;
  throw invalidOption(
    owner,
    'OnGivenUp',
    fact,
    'Put both into one class, with the same name if they have one.',
  );
}

function receptorOf(instance: Methods, role: Role, roles: readonly Role[]): Receptor<unknown> {
  // The method is looked up for each call, as for every other caller: it may be replaced, in tests say.
  const call =
    ({ method }: Role) =>
    (...args: readonly unknown[]) =>
      instance[method]?.(...args);
  const givenUp = roles.find((other) => isGivenUpOf(other, role));
  const options = { ...role.options, ...(givenUp !== undefined && { onGivenUp: call(givenUp) }) };
  return role.kind === 'batch'
    ? batchReceptorFor<unknown>()(role.definition as never, options as never, call(role) as never)
    : receptorFor<unknown>()(role.definition as never, options as never, call(role) as never);
}
