import type { MessageDefinition, MessageKind } from '../../messages/index.js';
import { invalidOption } from '../../options.js';
import type { Receptor } from '../../receptors/index.js';
import { unreadable } from '../publish/unreadable.js';

/** The receptors of this instance by message type, in the order they were given. */
export class ReceptorRegistry<Tx> {
  readonly #byType = new Map<string, Receptor<Tx>[]>();

  constructor(receptors: readonly Receptor<Tx>[]) {
    for (const receptor of receptors) this.#add(receptor);
  }

  get isEmpty(): boolean {
    return this.#byType.size === 0;
  }

  receptorsFor(type: string): readonly Receptor<Tx>[] {
    return this.#byType.get(type) ?? [];
  }

  /** Returns the handler names that this instance may claim. */
  handlerNames(): readonly string[] {
    return [...this.#byType.keys(), unreadable];
  }

  /** Returns the addresses to subscribe to: the service's name (for commands) and the topics of events. */
  addresses(service: string): readonly string[] {
    const topics = [...this.#byType.values()]
      .flat()
      .flatMap(({ definition }) =>
        definition.kind === 'event' ? [definition.address ?? definition.type, ...definition.formerly] : [],
      );
    return [...new Set([service, ...topics])];
  }

  #add(receptor: Receptor<Tx>): void {
    const { type, formerly } = receptor.definition as MessageDefinition<MessageKind, never, unknown, unknown>;
    for (const name of [type, ...formerly]) this.#addFor(name, receptor);
  }

  #addFor(type: string, receptor: Receptor<Tx>): void {
    const { kind } = receptor.definition;
    const known = this.#byType.get(type) ?? [];
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
    this.#byType.set(type, [...known, receptor]);
  }
}
