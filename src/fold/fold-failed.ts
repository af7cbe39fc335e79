import { WhizbangError } from '../errors.js';
import type { StoredEvent } from './stored-event.js';

interface FoldFailure {
  /** What went wrong, behind the name of the decider or perspective and the event. */
  readonly fact: string;
  readonly hint?: string | undefined;
  readonly cause?: unknown;
  /** The field that is wrong, if one is. */
  readonly path?: string | undefined;
}

/** The error of one event that could not be folded. */
export function foldFailed(
  name: string,
  { type, version, streamId }: StoredEvent,
  { fact, hint, cause, path }: FoldFailure,
): WhizbangError {
  return new WhizbangError('FOLD_FAILED', {
    message: `${name}: its function for ${type} (version ${version} of stream ${streamId}) ${fact}.`,
    ...(hint === undefined ? {} : { hint }),
    details: { name, type, streamId, version, ...(path === undefined ? {} : { path }) },
    cause,
  });
}

/** The message of what was thrown, without its last full stop. */
export function messageOf(thrown: unknown): string {
  return (thrown instanceof Error ? thrown.message : String(thrown)).replace(/\.$/, '');
}
