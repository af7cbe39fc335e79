import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ReceptorRecord } from '../../src/coordinator/index.js';
import { defineEvent, receptor } from '../../src/index.js';
import { turnsOf } from '../../src/work/handle/receptor-turns.js';

const Event = defineEvent('Event', { schema: z.object({}) });
const receptors = ['mail', 'print', 'ship'].map((name) => receptor(Event, { name }, () => {}));

const record = (name: string, more: Partial<ReceptorRecord>): ReceptorRecord => ({
  name,
  isDone: false,
  isGivenUp: false,
  attempts: 0,
  waitSeconds: 0,
  error: '',
  ...more,
});

/** The names of each group, with the number of failures. */
function turnsWith(attempts: number, ...records: ReceptorRecord[]) {
  const { due, waiting, givenUp } = turnsOf({ attempts }, receptors, records, 1_000);
  const named = (group: typeof due) => group.map(({ receptor: { name }, failures }) => `${name} ${failures}`);
  return { due: named(due), waiting: named(waiting), givenUp: named(givenUp) };
}

describe('The receptors of a message that run now', () => {
  it('all receptors of a message run in their order when none has reported', () => {
    expect(turnsWith(0)).toEqual({ due: ['mail 0', 'print 0', 'ship 0'], waiting: [], givenUp: [] });
  });

  it('receptors that are done do not run again', () => {
    const turns = turnsWith(1, record('mail', { isDone: true }), record('ship', { attempts: 1 }));
    expect(turns).toEqual({ due: ['print 0', 'ship 1'], waiting: [], givenUp: [] });
  });

  it('receptors that wait or are given up do not run with those that are due', () => {
    const turns = turnsWith(
      4,
      record('mail', { attempts: 3, isGivenUp: true }),
      record('print', { attempts: 2, waitSeconds: -0.5 }),
      record('ship', { attempts: 1, waitSeconds: 0.5 }),
    );
    expect(turns).toEqual({ due: ['print 2'], waiting: ['ship 1'], givenUp: ['mail 3'] });
  });

  it('all receptors that wait run when their message comes before any of them is due', () => {
    const turns = turnsWith(
      4,
      record('mail', { isDone: true }),
      record('print', { attempts: 2, waitSeconds: 10 }),
      record('ship', { attempts: 1, waitSeconds: 20 }),
    );
    expect(turns).toEqual({ due: ['print 2', 'ship 1'], waiting: [], givenUp: [] });
  });

  it('no receptor runs when all that are missing are given up', () => {
    const turns = turnsWith(
      4,
      ...['mail', 'print'].map((name) => record(name, { isDone: true })),
      record('ship', { attempts: 3, isGivenUp: true }),
    );
    expect(turns).toEqual({ due: [], waiting: [], givenUp: ['ship 3'] });
  });

  it('receptors that were given up run with all their attempts when their message was put back', () => {
    const turns = turnsWith(
      0,
      record('mail', { isDone: true }),
      record('print', { attempts: 3, isGivenUp: true }),
      record('ship', { attempts: 1, waitSeconds: 20 }),
    );
    expect(turns).toEqual({ due: ['print 0', 'ship 0'], waiting: [], givenUp: [] });
  });

  it('a receptor becomes due by the clock of the process, counted from the answer of the database', () => {
    const late = [record('mail', { attempts: 1, waitSeconds: 2.5, error: 'no paper' })];
    const { waiting } = turnsOf({ attempts: 1 }, receptors, late, 1_000);
    expect(waiting).toEqual([{ receptor: receptors[0], failures: 1, error: 'no paper', dueAt: 3_500 }]);
  });
});
