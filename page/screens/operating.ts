// What can be done to a message, a stream, an instance or a whole service: each is asked first.
// In: what it is done to. Out: whether it was done. The server checks again whether it is allowed.

import type { Overview } from '../../src/dashboard/reads/overview.js';
import { confirm } from '../parts/confirm.js';
import { tell } from '../parts/notice.js';
import { overview, schema } from '../state/live.js';
import { act, ask, messageOf } from '../state/server.js';
import { shortId } from '../text/format.js';

/** What can be paused, as the server wants it named. */
export type Pausable = { readonly type: string } | { readonly stream: string } | { readonly intake: true };

interface Operation {
  readonly name: string;
  readonly target: object;
  readonly question: Parameters<typeof confirm>[0];
  readonly done: string;
  readonly nothing: string;
}

/** Returns whether it was done, or there was nothing to do: then what is shown is out of date. */
async function operate({ name, target, question, done, nothing }: Operation): Promise<boolean> {
  const yes = await confirm(question);
  if (yes === undefined) return false;
  try {
    const reason = yes.reason === '' ? {} : { reason: yes.reason };
    const answer = await act<{ done: boolean }>(name, { schema: schema.value, ...target, ...reason });
    tell(answer.done ? done : nothing);
    if (name === 'pause' || name === 'resume') await readPauses();
    return true;
  } catch (error) {
    tell(messageOf(error), true);
    return false;
  }
}

/** What is paused now, at once: the next live update may be seconds away. */
async function readPauses(): Promise<void> {
  const { pauses } = await ask<Pick<Overview, 'pauses'>>('operations', { schema: schema.value });
  if (overview.value !== undefined) overview.value = { ...overview.value, pauses };
}

export const tryNow = (id: string) =>
  operate({
    name: 'retry-now',
    target: { id },
    question: {
      title: 'Try it now?',
      text: 'It does not wait for its time any longer. Its place in its stream stays.',
      yes: 'Try now',
      isDestructive: false,
    },
    done: 'It is due now.',
    nothing: 'It does not wait for a time.',
  });

export const giveUp = (id: string) =>
  operate({
    name: 'give-up',
    target: { id },
    question: {
      title: 'Give up this message?',
      text: 'It becomes a dead letter, from where it can be put back. Its stream goes on without it.',
      yes: 'Give up',
      isDestructive: true,
      takesReason: true,
    },
    done: 'It is a dead letter, and its stream goes on.',
    nothing: 'There is nothing to do: it is gone.',
  });

export const releaseStream = (stream: string) =>
  operate({
    name: 'release-stream',
    target: { stream },
    question: {
      title: `Release stream ${shortId(stream)}?`,
      text: 'Anybody may take it then. A message that runs may run a second time, and what its holder reports later is refused.',
      yes: 'Release',
      isDestructive: true,
    },
    done: 'It is released: anybody may take it.',
    nothing: 'Nobody holds it.',
  });

export const releaseInstance = (instance: string, name: string) =>
  operate({
    name: 'release-instance',
    target: { instance },
    question: {
      title: `Release all streams of ${name}?`,
      text: 'Anybody may take them then. Messages that run may run a second time, and what the instance reports later is refused.',
      yes: 'Release',
      isDestructive: true,
    },
    done: 'They are released: anybody may take them.',
    nothing: 'It holds nothing.',
  });

export const pause = (what: Pausable) =>
  operate({
    name: 'pause',
    target: what,
    question: {
      title: `Pause ${nameOf(what)}?`,
      text: 'Nothing of it is handed out until it is resumed. What arrives waits; what runs is finished.',
      yes: 'Pause',
      isDestructive: true,
      takesReason: true,
    },
    done: `Paused: ${nameOf(what)}.`,
    nothing: 'It is paused already.',
  });

export const resume = (what: Pausable) =>
  operate({
    name: 'resume',
    target: what,
    question: {
      title: `Resume ${nameOf(what)}?`,
      text: 'What has waited is handed out again.',
      yes: 'Resume',
      isDestructive: false,
    },
    done: `It goes on: ${nameOf(what)}.`,
    nothing: 'It is not paused.',
  });

function nameOf(what: Pausable): string {
  if ('intake' in what) return 'the intake of the service';
  return 'type' in what ? `the type ${what.type}` : `stream ${shortId(what.stream)}`;
}
