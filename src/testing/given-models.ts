import { WhizbangError } from '../errors.js';
import { foldModels, type ModelPerspective, type ModelResult } from '../fold/index.js';
import { type MessageToSend, streamIdOf } from '../messages/index.js';
import { complaint, differenceLines, nothingAsked, show } from './complaint.js';
import { differences } from './differences.js';
import type { PartOf } from './sent-messages.js';
import { storedEvents } from './stored-events.js';

/** The models that follow from events, to say what is expected of them. */
export class GivenModels<Model> {
  readonly #perspective: ModelPerspective<Model>;
  readonly #events: readonly MessageToSend<'event'>[];

  constructor(perspective: ModelPerspective<Model>, events: readonly MessageToSend<'event'>[]) {
    this.#perspective = perspective;
    this.#events = events;
  }

  /** The model of this stream, or of this key, has these parts. Fails with the error of an event that failed. */
  // biome-ignore lint/suspicious/noThenProperty: given, then; an await without an argument is refused
  async then(id: string, part: PartOf<NoInfer<Model>>): Promise<void> {
    if (typeof id === 'function') {
      const refused = nothingAsked(`given(${this.#perspective.name}, …)`, '.then(id, part) or .thenNone(id)');
      return (part as (error: unknown) => void)(refused);
    }
    const model = await this.#modelOf(id);
    const { name } = this.#perspective;
    if (model === null) {
      throw complaint(`${name} has no model ${show(id)}.`, {
        actual: null,
        expected: part,
        operator: 'then',
      });
    }
    const found = [...differences(model, part)];
    if (found.length === 0) return;
    const message = `${name} has another model ${show(id)}:\n${differenceLines(found)}\nThe model: ${show(model)}`;
    throw complaint(message, { actual: model, expected: part, operator: 'then' });
  }

  /** There is no model of this stream, or of this key. */
  async thenNone(id: string): Promise<void> {
    const model = await this.#modelOf(id);
    if (model === null) return;
    const message = `${this.#perspective.name} has a model ${show(id)}, and none was expected: ${show(model)}`;
    throw complaint(message, { actual: model, expected: null, operator: 'thenNone' });
  }

  async #modelOf(id: string): Promise<Model | null> {
    const results = await this.#fold();
    const modelId = this.#perspective.kind === 'stream' ? streamIdOf(id) : id;
    const result = results.find((each) => each.kind === 'changed' && each.id === modelId);
    return result?.kind === 'changed' ? result.value : null;
  }

  /** All models. An event that failed fails the test, whichever model was asked for. */
  async #fold(): Promise<readonly ModelResult<Model>[]> {
    const stored = await storedEvents(this.#events, (streamId, type) => {
      if (streamId !== null) return streamId;
      throw new WhizbangError('INVALID_MESSAGE', {
        message: `${type} has no stream, so it is not in the event store and no perspective reads it.`,
        hint: `Give its definition a stream: defineEvent('${type}', { stream: … }).`,
        details: { type, issues: [] },
      });
    });
    const results = await foldModels(this.#perspective, new Map(), stored);
    const held = results.find((result) => result.kind === 'held');
    if (held?.kind === 'held') throw held.error;
    return results;
  }
}
