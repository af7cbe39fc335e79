import { AssertionError } from 'node:assert';
import { inspect } from 'node:util';
import type { MessageId } from '../message.js';
import type { Envelope, MessageDefinition, MessageKind } from '../messages/index.js';
import { matches } from './matches.js';

/** A message as it left. Its payload is the JSON of what the sender wrote, before any schema made something of it. */
export interface SentMessage<Payload = unknown> extends Envelope<Payload> {
  /** An event's topic, or the service that a command goes to. */
  readonly address: string;
}

/** Some of it: of objects any part, of the rest all or nothing. */
export type PartOf<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: PartOf<T[K]> }
    : T;

/** By id, in the order in which they left: what is sent twice, after an answer that was lost, is one message. */
export type SentById = ReadonlyMap<MessageId, SentMessage>;

/** What was sent, to look at and to make claims about. */
export class SentMessages {
  readonly #sent: SentById;

  constructor(sent: SentById) {
    this.#sent = sent;
  }

  /** All that left, in order; or what is of one kind, with the type of its payload. */
  sent(): readonly SentMessage[];
  sent<Input>(definition: MessageDefinition<MessageKind, Input>): readonly SentMessage<Input>[];
  sent(definition?: MessageDefinition): readonly SentMessage[] {
    const all = [...this.#sent.values()];
    return definition === undefined ? all : all.filter(({ type }) => type === definition.type);
  }

  /** The first of this kind whose payload has these parts. Fails, with what was sent instead, when there is none. */
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

const show = (value: unknown) => inspect(value, { depth: 6, breakLength: 100, sorted: true });
