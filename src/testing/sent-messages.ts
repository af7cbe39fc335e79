import { AssertionError } from 'node:assert';
import type { MessageId } from '../message.js';
import type { Envelope, MessageDefinition, MessageKind } from '../messages/index.js';
import { show } from './complaint.js';
import { matches } from './differences.js';

/**
 * A message as it was sent. Its payload is the JSON of what the sender passed, before any schema transformed
 * it.
 */
export interface SentMessage<Payload = unknown> extends Envelope<Payload> {
  /** The topic of an event, or the receiving service of a command. */
  readonly address: string;
}

/** A part of a value: any part of an object; all of anything else. */
export type PartOf<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: PartOf<T[K]> }
    : T;

/**
 * Sent messages by id, in the order of sending. A message that is sent twice, after a lost answer, is one
 * message.
 */
export type SentById = ReadonlyMap<MessageId, SentMessage>;

/** The messages that were sent, to read and to make assertions about. */
export class SentMessages {
  readonly #sent: SentById;

  constructor(sent: SentById) {
    this.#sent = sent;
  }

  /** All sent messages, in order; or those of one kind, with the type of their payload. */
  sent(): readonly SentMessage[];
  sent<Input>(definition: MessageDefinition<MessageKind, Input>): readonly SentMessage<Input>[];
  sent(definition?: MessageDefinition): readonly SentMessage[] {
    const all = [...this.#sent.values()];
    return definition === undefined ? all : all.filter(({ type }) => type === definition.type);
  }

  /**
   * Returns the first of this kind whose payload has these parts. Without one it fails and lists what was
   * sent.
   */
  expectSent<Input>(
    definition: MessageDefinition<MessageKind, Input>,
    part?: PartOf<NoInfer<Input>>,
  ): SentMessage<Input> {
    const ofKind = this.sent(definition);
    const found = ofKind.find(({ payload }) => part === undefined || matches(payload, part));
    if (found !== undefined) return found;
    throw new AssertionError({
      message: this.#complaint(definition.type, part),
      actual: ofKind.map(({ payload }) => payload),
      expected: part === undefined ? definition.type : [part],
      operator: 'expectSent',
    });
  }

  #complaint(type: string, part: unknown): string {
    const wanted = part === undefined ? type : `${type} ${show(part)}`;
    const lines = this.sent().map((message) => `- ${message.type} ${show(message.payload)}`);
    const instead = lines.length === 0 ? 'Nothing was sent.' : `What was sent:\n${lines.join('\n')}`;
    return `${wanted} was not sent. ${instead}`;
  }
}
