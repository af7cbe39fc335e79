import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type CatchUp, defineCommand, schedule } from '../../src/index.js';
import { dueTimes } from '../../src/schedules/due-times.js';
import { nextTime } from '../../src/schedules/schedule.js';

const CloseBooks = defineCommand('CloseBooks', { schema: z.object({}) });
const make = () => CloseBooks({});
const at = (text: string) => Date.parse(text);
const text = (ms: number | undefined) =>
  ms === undefined ? undefined : new Date(ms).toISOString().slice(0, -5);

/** The next times of a pattern. */
function timesOf(cron: string, timeZone: string, after: string, count: number) {
  const times: (string | undefined)[] = [];
  let time: number | undefined = at(after);
  for (let i = 0; i < count && time !== undefined; i++) {
    time = nextTime({ cron, timeZone }, time);
    times.push(text(time));
  }
  return times;
}

describe('A schedule', () => {
  it.each([
    ['cron', () => schedule('a', '* * *', make)],
    ['cron', () => schedule('a', '* * * * * * *', make)],
    ['cron', () => schedule('a', '61 * * * *', make)],
    ['cron', () => schedule('a', 5 as never, make)],
    ['name', () => schedule('', '* * * * *', make)],
    ['message', () => schedule('a', '* * * * *', undefined as never)],
    ['timeZone', () => schedule('a', '* * * * *', make, { timeZone: 'Mars/Base' })],
    ['catchUp', () => schedule('a', '* * * * *', make, { catchUp: 'some' as never })],
    ['timezone', () => schedule('a', '* * * * *', make, { timezone: 'UTC' } as never)],
  ])('a schedule with a wrong %s is refused', (option, wrong) => {
    expect(wrong).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', details: expect.objectContaining({ option }) }),
    );
  });

  it('a schedule is in UTC and catches up on the last time, unless it says otherwise', () => {
    expect(schedule('a', ' 0  2 * * * ', make)).toMatchObject({
      cron: '0 2 * * *',
      timeZone: 'UTC',
      catchUp: 'last',
    });
  });

  it('a pattern of six fields begins with seconds', () => {
    expect(timesOf('*/20 * * * * *', 'UTC', '2026-01-01T00:00:01Z', 2)).toEqual([
      '2026-01-01T00:00:20',
      '2026-01-01T00:00:40',
    ]);
  });
});

describe('Daylight saving', () => {
  it('a time that the change of clocks leaves out comes at the change, once', () => {
    expect(timesOf('30 2 * * *', 'Europe/Berlin', '2026-03-28T00:00:00Z', 3)).toEqual([
      '2026-03-28T01:30:00',
      '2026-03-29T01:00:00',
      '2026-03-30T00:30:00',
    ]);
  });

  it('a time that the change of clocks repeats comes once', () => {
    expect(timesOf('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', 2)).toEqual([
      '2026-10-25T00:30:00',
      '2026-10-26T01:30:00',
    ]);
  });

  it('an hourly pattern comes every hour that passes, through both changes of clocks', () => {
    const hours = (from: string) =>
      timesOf('0 * * * *', 'Europe/Berlin', from, 4).map((time) => time?.slice(11, 13));
    expect(hours('2026-03-28T23:30:00Z')).toEqual(['00', '01', '02', '03']);
    expect(hours('2026-10-24T22:30:00Z')).toEqual(['23', '00', '01', '02']);
  });

  it('a time of the evening stays at its hour of the day in summer and in winter', () => {
    expect(timesOf('0 20 1 * *', 'America/New_York', '2026-01-15T00:00:00Z', 2)).toEqual([
      '2026-02-02T01:00:00',
      '2026-03-02T01:00:00',
    ]);
    expect(timesOf('0 20 1 * *', 'America/New_York', '2026-06-15T00:00:00Z', 1)).toEqual([
      '2026-07-02T00:00:00',
    ]);
  });
});

describe('Missed times', () => {
  const due = (catchUp: CatchUp, cron: string, from: string, now: string) => {
    const { times, next } = dueTimes(schedule('a', cron, make, { catchUp }), at(from), at(now));
    return { times: times.map(text), next: text(next) };
  };

  it.each(['skip', 'last', 'all'] as const)(
    'a time that is not late is sent whatever catchUp is: %s',
    (catchUp) => {
      expect(due(catchUp, '0 2 * * *', '2026-01-01T02:00:00Z', '2026-01-01T02:00:01Z')).toEqual({
        times: ['2026-01-01T02:00:00'],
        next: '2026-01-02T02:00:00',
      });
    },
  );

  it('a missed time is left out by skip', () => {
    expect(due('skip', '0 2 * * *', '2026-01-01T02:00:00Z', '2026-01-03T08:00:00Z')).toEqual({
      times: [],
      next: '2026-01-04T02:00:00',
    });
  });

  it('a missed time is sent for the last one only by last', () => {
    expect(due('last', '0 2 * * *', '2026-01-01T02:00:00Z', '2026-01-03T08:00:00Z')).toEqual({
      times: ['2026-01-03T02:00:00'],
      next: '2026-01-04T02:00:00',
    });
  });

  it('a year of missed seconds costs last a few steps', () => {
    const { times } = due('last', '* * * * * *', '2025-01-01T00:00:00Z', '2026-01-01T00:00:00Z');
    expect(times).toEqual(['2026-01-01T00:00:00']);
  });

  it('a missed time is sent for each by all, a hundred in one step', () => {
    expect(due('all', '0 2 * * *', '2026-01-01T02:00:00Z', '2026-01-03T08:00:00Z')).toEqual({
      times: ['2026-01-01T02:00:00', '2026-01-02T02:00:00', '2026-01-03T02:00:00'],
      next: '2026-01-04T02:00:00',
    });
    const { times, next } = due('all', '* * * * *', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z');
    expect([times.length, next]).toEqual([100, '2026-01-01T01:40:00']);
  });
});
