import { setTimeout as pause } from 'node:timers/promises';
import { forgetSubject } from '../coordinator/index.js';
import { WhizbangError } from '../errors.js';
import type { StreamId } from '../message.js';
import { isName } from '../messages/index.js';
import { invalidOption } from '../options.js';
import type { StoreAccess } from './store-access.js';

/** What `forget` has done. */
export interface Forgotten {
  readonly subject: string;
  /** Whether the subject had a key: whether there was anything to erase. */
  readonly wasKnown: boolean;
  /** The streams with sealed events of the subject. Their kept states are deleted. */
  readonly streams: readonly StreamId[];
  /**
   * Perspectives of many streams, and those in tables of your own, that may have what is erased in their models. Have
   * them built again. Models of one stream are folded again by themselves.
   */
  readonly rebuild: readonly string[];
}

/** Each try waits half a second for transactions that hold the key, and holds up nobody meanwhile. */
const mostTries = 60;

/** Deletes the key of a subject, and what was made of its sealed fields. */
export async function forget(access: StoreAccess, subject: string): Promise<Forgotten> {
  if (!isName(subject)) {
    const hint = 'Give what the function sealed.subject of your events returns.';
    throw invalidOption('forget', 'subject', 'the subject is not a text, or is empty', hint);
  }
  for (let tries = 1; ; tries++) {
    try {
      const { hadKey, streams, rebuild } = await access.ask(undefined, (db, schema) =>
        forgetSubject(db, schema, subject),
      );
      return { subject, wasKnown: hadKey, streams, rebuild };
    } catch (error) {
      if (!(error instanceof WhizbangError) || error.code !== 'TIMEOUT') throw error;
      if (tries === mostTries) throw heldUp(error);
      await pause(Math.random() * 20);
    }
  }
}

function heldUp(cause: WhizbangError): WhizbangError {
  return new WhizbangError('TIMEOUT', {
    message:
      'forget waited for a transaction that has stored sealed events of the subject and is still open.',
    hint: 'Nothing was erased. End that transaction (pg_stat_activity shows it), and call forget again.',
    details: cause.details,
    cause,
  });
}
