// What can be done with dead letters: asked first with a dry run, so that the question has the true number.
import { confirm } from '../parts/confirm.js';
import { tell } from '../parts/notice.js';
import { schema } from '../state/live.js';
import { act, messageOf } from '../state/server.js';
import { whole } from '../text/format.js';

export type Which =
  | { readonly ids: readonly string[] }
  | { readonly type: string }
  | { readonly stream: string };

interface Acted {
  readonly letters: readonly { readonly isBehind?: boolean }[];
}

const letters = (count: number) => `${whole(count)} ${count === 1 ? 'dead letter' : 'dead letters'}`;

/** Returns whether something was done. */
export async function retryLetters(which: Which): Promise<boolean> {
  return actOn('retry-dead-letters', which, (count, behind) => ({
    title: `Retry ${letters(count)}?`,
    text: `They come at the end of their streams, in their order, and have all their attempts again. Their streams have gone on without them${behind > 0 ? `; ${whole(behind)} will wait behind messages that are there now` : ''}.`,
    yes: 'Retry',
    isDestructive: false,
  }));
}

export async function discardLetters(which: Which): Promise<boolean> {
  return actOn('discard-dead-letters', which, (count) => ({
    title: `Discard ${letters(count)}?`,
    text: 'They are deleted, with their payloads. This cannot be undone.',
    yes: 'Discard',
    isDestructive: true,
  }));
}

type Ask = (count: number, behind: number) => Parameters<typeof confirm>[0];

async function actOn(name: string, which: Which, question: Ask): Promise<boolean> {
  try {
    const body = { schema: schema.value, ...which };
    const dry = await act<Acted>(name, { ...body, dryRun: true });
    if (dry.letters.length === 0) {
      tell('There is nothing to do: they are gone.');
      return true;
    }
    const behind = dry.letters.filter(({ isBehind }) => isBehind).length;
    if ((await confirm(question(dry.letters.length, behind))) === undefined) return false;
    const done = await act<Acted>(name, body);
    tell(`${letters(done.letters.length)} ${name.startsWith('retry') ? 'put back' : 'discarded'}.`);
    return true;
  } catch (error) {
    tell(messageOf(error), true);
    return false;
  }
}
