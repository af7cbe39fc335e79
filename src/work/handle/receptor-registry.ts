import type { MessageDefinition, MessageKind } from '../../messages/index.js';
import { invalidOption } from '../../options.js';
import type { Receptor } from '../../receptors/index.js';
import { unreadable } from '../publish/unreadable.js';

/** The receptors of this instance by message type, in the order they were given. */
export class ReceptorRegistry<Tx> {
  readonly #byType = new Map<string, Receptor<Tx>[]>();

  readonly #otherAddresses: readonly string[];
  readonly #handlerNames: string[] = [unreadable];

  /** `otherAddresses`: what it receives besides what it has receptors for. */
  constructor(otherAddresses: readonly string[] = []) {
    this.#otherAddresses = otherAddresses;
  }

  get isEmpty(): boolean {
    return this.#byType.size === 0;
  }

  receptorsFor(type: string): readonly Receptor<Tx>[] {
    return this.#byType.get(type) ?? [];
  }

  /** The handler names that this instance may claim without a limit. The list grows with each receptor that is added. */
  get handlerNames(): readonly string[] {
    return this.#handlerNames;
  }

  /** Returns the receptors with a limit, by the types of their messages. */
  limited(): readonly (readonly [type: string, receptor: Receptor<Tx>])[] {
    return [...this.#byType].flatMap(([type, receptors]) => {
      const receptor = receptors.find(({ limit }) => limit !== undefined);
      return receptor === undefined ? [] : [[type, receptor] as const];
    });
  }

  /**
   * Returns the addresses to subscribe to: the service's name (for commands) and the topics of events, where it has
   * receptors, and the others that it was given.
   */
  addresses(service: string): readonly string[] {
    if (this.isEmpty) return this.#otherAddresses;
    const topics = [...this.#byType.values()]
      .flat()
      .flatMap(({ definition }) =>
        definition.kind === 'event' ? [definition.address ?? definition.type, ...definition.formerly] : [],
      );
    return [...new Set([service, ...topics, ...this.#otherAddresses])];
  }

  add(receptor: Receptor<Tx>): void {
    const { type, formerly } = receptor.definition as MessageDefinition<MessageKind, never, unknown, unknown>;
    for (const name of [type, ...formerly]) this.#refuseSecond(name, receptor);
    for (const name of [type, ...formerly]) this.#byType.set(name, [...this.receptorsFor(name), receptor]);
    const limited = new Map(this.limited());
    const unlimited = [...this.#byType.keys()].filter((name) => !limited.has(name));
    this.#handlerNames.splice(0, Infinity, ...unlimited, unreadable);
  }

  #refuseSecond(type: string, receptor: Receptor<Tx>): void {
    const { kind } = receptor.definition;
    const known = this.receptorsFor(type);
    if (known.length > 0 && kind === 'command') {
      throw invalidOption(
        'createWhizbang',
        'receptors',
        `the command ${type} has two receptors`,
        'A command has one receptor. Publish an event instead, or put both handlers into one receptor.',
      );
    }
    if (known.some(({ name }) => name === receptor.name)) {
      throw invalidOption(
        'createWhizbang',
        'receptors',
        `two receptors of ${type} are called ${receptor.name}`,
        'Give each a name of its own: receptor(definition, { name: "…" }, handler). The name is stored with what the receptor has handled, so it must not change.',
      );
    }
    if (known.length > 0 && [...known, receptor].some(({ batch }) => batch !== undefined)) {
      throw invalidOption(
        'createWhizbang',
        'receptors',
        `${type} has a receptor of batches and another one`,
        'A receptor of batches is the only one of its message in a service. Let the other send a command.',
      );
    }
    if (receptor.limit !== undefined && known.some(({ limit }) => limit !== undefined)) {
      throw invalidOption(
        'createWhizbang',
        'receptors',
        `two receptors of ${type} have limits`,
        'A limit holds back the message for all its receptors, so one of them may have it. Let the other send a command, and limit its receptor.',
      );
    }
  }
}
