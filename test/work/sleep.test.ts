// Every state of a session with every event, also those that cannot happen: a notification without a connection, say.
import { describe, expect, it } from 'vitest';
import { hasToAsk, looksAfter, type Sleep, type SleepEvent, stepFrom } from '../../src/work/loop/sleep.js';

const rowsOf = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));

/** Reads a table whose first line names the states. A cell: the next state, and what is done. */
function tableOf(text: string) {
  const [[, ...states] = [], ...rows] = rowsOf(text);
  return rows.flatMap(([name = '', ...cells]) =>
    cells.map((cell, i) => ({ name, state: states[i] as Sleep, cell })),
  );
}

const steps = tableOf(`
              | awake      | asleep             | covered      | passed      | busy       | deaf
  stored      | awake hint | asleep wake        | covered hint | passed hint | busy hint  | deaf hint
  storedAgain | awake hint | awake wake release | covered hint | passed hint | busy hint  | deaf hint
  called      | awake wake | asleep wake        | awake wake   | awake wake  | awake wake | awake wake
  calledAgain | awake wake | awake wake release | awake wake   | awake wake  | awake wake | awake wake
  paused      | awake      | awake release      | awake        | awake       | awake      | awake
  connected   | awake wake | awake wake         | awake wake   | awake wake  | awake wake | awake wake
  lost        | awake wake | awake wake         | awake wake   | awake wake  | awake wake | awake wake
  asleep      | asleep     | asleep             | asleep       | asleep      | asleep     | asleep
  covered     | covered    | covered            | covered      | covered     | covered    | covered
  passed      | passed     | passed             | passed       | passed      | passed     | passed
  busy        | busy       | busy               | busy         | busy        | busy       | busy
  unanswered  | deaf       | deaf               | deaf         | deaf        | deaf       | deaf
`).map(({ name, ...step }) => ({ ...step, event: name as SleepEvent }));

describe('A session', () => {
  it.each(steps)('a session that is $state when it is $event becomes: $cell', ({ state, event, cell }) => {
    expect(stepFrom(state, event)).toEqual(cell.split(' '));
  });

  it('the table of steps has a step for every state and event', () => {
    const all = new Set(steps.map(({ state, event }) => `${state} ${event}`));
    expect(all.size).toBe(6 * 12);
  });
});

describe('Before its loop rests, a session', () => {
  // Able: when it last asked > now. Each cell: not notified since it last asked, and notified.
  const asks = tableOf(`
                         | awake   | asleep  | covered | passed  | busy    | deaf
    room, able > able     | yes yes | no no   | no no   | yes yes | yes yes | no no
    room, able > unable   | yes yes | yes yes | yes yes | no no   | yes yes | no no
    room, unable > able   | yes yes | yes yes | yes yes | yes yes | yes yes | no no
    room, unable > unable | yes yes | no yes  | no yes  | no no   | yes yes | no no
    full, able > able     | no no   | no no   | no no   | yes yes | no no   | no no
    full, able > unable   | no no   | yes yes | yes yes | no no   | no no   | no no
    full, unable > able   | no no   | yes yes | yes yes | yes yes | no no   | no no
    full, unable > unable | no no   | no yes  | no yes  | no no   | no no   | no no
  `);

  it.each(asks)('a session that is $state asks to sleep, with $name: $cell', ({ state, name, cell }) => {
    const [room, before, , now] = name.split(/,? /);
    const loop = { isFull: room === 'full', isAble: now === 'able', wasAble: before === 'able' };
    const answers = [false, true].map((wasNotified) => hasToAsk(state, { ...loop, wasNotified }));
    expect(answers.map((asks) => (asks ? 'yes' : 'no')).join(' ')).toBe(cell);
  });
});

describe('After it has asked to sleep, a loop', () => {
  const looks = tableOf(`
            | awake | asleep | covered | passed | busy | deaf
    asleep  | yes   | no     | yes     | yes    | yes  | yes
    covered | yes   | yes    | yes     | yes    | yes  | yes
    passed  | no    | no     | no      | no     | no   | no
    busy    | yes   | yes    | yes     | yes    | yes  | yes
    deaf    | no    | no     | no      | no     | no   | no
  `);

  it.each(looks)(
    'a worker whose session was $state and is $name looks once more: $cell',
    ({ state, name, cell }) => {
      expect(looksAfter(state, name as Sleep) ? 'yes' : 'no').toBe(cell);
    },
  );
});
