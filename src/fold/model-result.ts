import type { WhizbangError } from '../errors.js';
import type { StreamId } from '../message.js';
import type { KeyedPerspective } from './keyed-perspective.js';
import type { Announcement } from './next-model.js';
import type { Perspective } from './perspective.js';
import type { StoredEvent } from './stored-event.js';

/** A perspective with models. */
export type ModelPerspective<Model> = Perspective<Model> | KeyedPerspective<Model>;

/** A model as it is stored. */
export interface StoredModel {
  /** The JSON; null: it has ended. */
  readonly model: unknown;
  /** Of a stream: the version of its last event that was applied. Of a key: how many events were. */
  readonly version: number;
  /** True: nothing is applied to it. */
  readonly held?: boolean | undefined;
}

/** A model that has to be stored. */
export interface ChangedModel<Model> extends StoredModel {
  readonly kind: 'changed';
  /** The id of the stream, or the key. */
  readonly id: string;
  /** What the schema makes of the stored JSON: the model that queries return. */
  readonly value: Model;
  /** The last event that was applied. */
  readonly event: StoredEvent;
  /** Of every event that was applied, in their order. */
  readonly announcements: readonly Announcement[];
}

/** A model that has ended: there is none after the event. */
export interface EndedModel extends Omit<ChangedModel<null>, 'kind'> {
  readonly kind: 'ended';
  readonly model: null;
}

/**
 * An event that could not be applied. Nothing behind it was applied to the model. What came before it is a
 * result of its own.
 */
export interface HeldModel {
  readonly kind: 'held';
  /** Null: the keys of the event are not known, and nothing behind it in its stream was applied to any model. */
  readonly id: string | null;
  readonly streamId: StreamId;
  readonly event: StoredEvent;
  readonly error: WhizbangError;
}

/** What has become of a model: at most one that is held for each, behind at most one of the others. */
export type ModelResult<Model> = ChangedModel<Model> | EndedModel | HeldModel;
