import type { WhizbangError } from '../errors.js';
import { foldFailed } from './fold-failed.js';
import type { KeyedStep } from './keyed-perspective.js';
import type { HeldModel, ModelPerspective, ModelResult, StoredModel } from './model-result.js';
import { type Announcement, announce, asStored, callFor, type Steps, valueOfModel } from './next-model.js';
import type { PerspectiveStep } from './perspective.js';
import type { StoredEvent } from './stored-event.js';

/** An event and the models that it concerns. */
export interface Task {
  readonly event: StoredEvent;
  readonly step: PerspectiveStep | KeyedStep;
  readonly ids: readonly string[];
  /** Reads the payload, once. */
  readonly read: () => Steps<unknown>;
}

/** One model, while events are applied to it. */
export class ModelFold {
  readonly #perspective: ModelPerspective<unknown>;
  readonly #id: string;
  #model: unknown;
  /** What the schema makes of it, or null; undefined: it was not read yet. */
  #value: unknown;
  #version: number;
  #isHeld: boolean;
  #held: HeldModel | undefined;
  #last: StoredEvent | undefined;
  readonly #announcements: Announcement[] = [];

  constructor(perspective: ModelPerspective<unknown>, id: string, stored: StoredModel | undefined) {
    this.#perspective = perspective;
    this.#id = id;
    this.#model = stored?.model ?? null;
    this.#version = stored?.version ?? 0;
    this.#isHeld = stored?.held ?? false;
  }

  *apply(task: Task): Steps<void> {
    const { event } = task;
    const isOfStream = this.#perspective.kind === 'stream';
    if (this.#isHeld || (isOfStream && event.version <= this.#version)) return;
    try {
      yield* this.#change(task);
      this.#version = isOfStream ? event.version : this.#version + 1;
      this.#last = event;
    } catch (thrown) {
      const error = thrown as WhizbangError;
      this.#isHeld = true;
      this.#held = { kind: 'held', id: this.#id, streamId: event.streamId, event, error };
    }
  }

  results(): ModelResult<unknown>[] {
    const held = this.#held === undefined ? [] : [this.#held];
    if (this.#last === undefined) return held;
    const facts = {
      id: this.#id,
      version: this.#version,
      event: this.#last,
      announcements: this.#announcements,
    };
    return this.#model === null
      ? [{ kind: 'ended', ...facts, model: null, value: null }, ...held]
      : [{ kind: 'changed', ...facts, model: this.#model, value: this.#value }, ...held];
  }

  /** Applies one event. When it throws, nothing has changed. */
  *#change({ event, step, read }: Task): Steps<void> {
    const rules = this.#perspective;
    const payload = yield* read();
    if (step.does === 'ends') {
      this.#model = null;
      this.#value = null;
      return;
    }
    const before = yield* this.#read(event);
    const returned =
      step.does === 'starts'
        ? this.#start(event, before, () => step.apply(payload, event))
        : yield* this.#continue(event, before, (model) => step.apply(model, payload, event));
    const model = asStored(rules, event, returned);
    const value = yield* valueOfModel(rules, event, model, 'returned');
    const announcements = rules.announcers.length === 0 ? [] : yield* announce(rules, event, value, before);
    this.#model = model;
    this.#value = value;
    this.#announcements.push(...announcements);
  }

  *#read(event: StoredEvent): Steps<unknown> {
    if (this.#value !== undefined) return this.#value;
    const isNone = this.#model === null;
    this.#value = isNone ? null : yield* valueOfModel(this.#perspective, event, this.#model, 'was given');
    return this.#value;
  }

  #start(event: StoredEvent, before: unknown, apply: () => unknown): unknown {
    if (before === null) return callFor(this.#perspective, event, apply);
    const fact = `starts a model, and the stream has one at version ${this.#version}`;
    const hint = `Write .on(${event.type}, …) if it changes a model, or .ends(…) for the event that ends the one before.`;
    throw foldFailed(this.#perspective.name, event, { fact, hint });
  }

  *#continue(event: StoredEvent, before: unknown, apply: (model: unknown) => unknown): Steps<unknown> {
    const perspective = this.#perspective;
    if (before !== null) return callFor(perspective, event, () => apply(before));
    if (perspective.kind === 'keyed') {
      const initial = yield* valueOfModel(perspective, event, perspective.initial, 'was given');
      return callFor(perspective, event, () => apply(initial));
    }
    const fact = 'changes a model, and the stream has none';
    const hint = `Write .starts(…) for the event that the model begins with; it has to come before ${event.type}.`;
    throw foldFailed(perspective.name, event, { fact, hint });
  }
}
