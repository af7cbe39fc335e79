import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createStrategy, WorkCoordinator } from '../src/coordination.js';
import { WhizbangError } from '../src/errors.js';
import {
  batchReceptor,
  createWhizbang,
  decider,
  defineCommand,
  defineEvent,
  receptor,
} from '../src/index.js';
import * as options from '../src/options.js';
import { coordinatorOptions, type NumberOption, type OptionTable, resolveOptions } from '../src/options.js';
import { pageText } from './docs/page.js';

const tables = Object.entries(options).flatMap(([table, value]) =>
  typeof value === 'function' ? [] : [{ table, options: value as OptionTable }],
);
const each = tables.flatMap(({ table, options: numbers }) =>
  Object.entries(numbers).map(([name, option]) => ({ table, numbers, name, option })),
);

function refusalOf(work: () => unknown): WhizbangError {
  try {
    work();
  } catch (error) {
    if (error instanceof WhizbangError && error.code === 'INVALID_OPTION') return error;
    throw error;
  }
  throw new Error('It was accepted.');
}

describe.each(each)('$name of $table', ({ numbers, name, option }) => {
  const step = option.fractions ? 0.0001 : 1;
  const resolve = (given: Record<string, unknown>): Record<string, number | undefined> =>
    resolveOptions('Test', numbers, given);

  it('a number option is accepted at both ends of its bound', () => {
    expect(resolve({ [name]: option.min })).toMatchObject({ [name]: option.min });
    expect(resolve({ [name]: option.max })).toMatchObject({ [name]: option.max });
  });

  it('a number option is refused beyond both ends of its bound, with the bound and the unit', () => {
    for (const value of [
      option.min - step,
      option.max === Number.MAX_SAFE_INTEGER ? Infinity : option.max + step,
    ]) {
      const error = refusalOf(() => resolve({ [name]: value }));
      expect(error.details).toMatchObject({ option: name, value, min: option.min, max: option.max });
      expect(error.hint).toContain(`${option.unit} from ${option.min} to ${option.max}`);
    }
  });

  it('a number option is refused when it is not a number of its kind', () => {
    const wrong = [Number.NaN, Number.POSITIVE_INFINITY, String(option.min), true, {}];
    for (const value of option.fractions ? wrong : [...wrong, option.min + 0.5]) {
      expect(refusalOf(() => resolve({ [name]: value })).details.option).toBe(name);
    }
  });

  it('a number option has its default when it is left out', () => {
    expect(resolve({})[name]).toBe(option.default);
    expect(resolve({ [name]: undefined })[name]).toBe(option.default);
  });
});

/** What the code knows besides numbers: asked with a name that comes near none, it lists all that there are. */
const colour = { 'no such colour as this': 'blue' } as object;
const schema = z.object({});
const Event = defineEvent('Event', { schema });
const Command = defineCommand('Command', { schema, to: 'nobody' });
const pool = { connect: () => Promise.reject(new Error('not here')) };
const coordinator = new WorkCoordinator({ pool, instance: { serviceName: 'test' } });
const shop = createWhizbang({ service: 'test', pool });

function namesIn({ hint }: WhizbangError): string[] {
  const [, names = ''] = /^Known options: (.*)\.$/.exec(hint) ?? [];
  return names.split(', ');
}

const known: Record<string, () => Promise<string[]> | string[]> = {
  createWhizbang: () => namesIn(refusalOf(() => createWhizbang({ service: 'test', pool, ...colour }))),
  receptor: () => namesIn(refusalOf(() => receptor(Event, colour, () => {}))),
  retry: () => namesIn(refusalOf(() => receptor(Event, { retry: colour }, () => {}))),
  rate: () => namesIn(refusalOf(() => receptor(Event, { concurrency: 1, rate: colour as never }, () => {}))),
  batchReceptor: () => namesIn(refusalOf(() => batchReceptor(Event, { size: 1, ...colour }, () => {}))),
  'defineEvent, defineCommand': () => [
    ...namesIn(refusalOf(() => defineEvent('Event', { schema, ...colour }))),
    ...namesIn(refusalOf(() => defineCommand('Command', { schema, ...colour }))),
  ],
  telemetry: () =>
    namesIn(refusalOf(() => createWhizbang({ service: 'test', pool, telemetry: colour as never }))),
  request: async () => {
    const [refusal] = await Promise.allSettled([shop.request(Command({}), colour)]);
    return namesIn((refusal as PromiseRejectedResult).reason);
  },
  'send, publish, invoke': async () => {
    const calls = [
      shop.send(Command({}), colour),
      shop.publish(Event({}), colour),
      shop.events.append(Event({}), colour),
      shop.invoke(Command({}), colour),
    ];
    const refusals = await Promise.allSettled(calls);
    return refusals.flatMap((result) => namesIn((result as PromiseRejectedResult).reason));
  },
  'events.stream': () =>
    shop.events
      .stream('a', colour)
      .next()
      .then(() => [], namesIn),
  decider: () => namesIn(refusalOf(() => decider('D', { initial: 0, ...colour }))),
  'deadLetters.list': () => shop.deadLetters.list(colour).then(() => [], namesIn),
  retention: () =>
    namesIn(refusalOf(() => createWhizbang({ service: 'test', pool, retention: colour as never }))),
  history: () =>
    namesIn(refusalOf(() => createWhizbang({ service: 'test', pool, history: colour as never }))),
  'retention.events': () => {
    const retention = { events: [colour as never] };
    return namesIn(refusalOf(() => createWhizbang({ service: 'test', pool, retention })));
  },
  'timers.list': () => shop.timers.list(colour).then(() => [], namesIn),
  createStrategy: () => [
    ...namesIn(refusalOf(() => createStrategy('interval', { coordinator, ...colour }))),
    'coordinator',
  ],
  // It takes its callbacks out before it looks at the names.
  OrderedStreamProcessor: () => ['run', 'onOutcome', 'onError', 'together', 'maxConcurrentStreams'],
  WorkCoordinator: () =>
    namesIn(refusalOf(() => new WorkCoordinator({ pool, instance: { serviceName: 'test' }, ...colour }))),
};

/** Which table of the code stands under which heading. */
const headings: Record<string, string> = {
  createWhizbang: 'whizbangOptions',
  receptor: 'receptorOptions',
  rate: 'rateOptions',
  batchReceptor: 'batchOptions',
  retry: 'retryOptions',
  'defineEvent, defineCommand': 'definitionOptions',
  'send, publish, invoke': 'sendOptions',
  request: 'requestOptions',
  'events.stream': 'streamOptions',
  decider: 'deciderOptions',
  'deadLetters.list': 'deadLetterOptions',
  retention: 'retentionOptions',
  history: 'historyOptions',
  'timers.list': 'timerListOptions',
  'retention.events': 'retentionRuleOptions',
  telemetry: 'telemetryOptions',
  createStrategy: 'strategyOptions',
  OrderedStreamProcessor: 'orderedStreamProcessorOptions',
  WorkCoordinator: 'coordinatorOptions',
};

describe('The page of options', () => {
  const sections = new Map(
    pageText('docs/reference/options.md')
      .split(/^## /m)
      .slice(1)
      .map((text) => [text.slice(0, text.indexOf('\n')), text]),
  );

  it('the page of options has a section for every table of the code, and no other', () => {
    expect([...sections.keys()].sort()).toEqual(Object.keys(headings).sort());
    expect(Object.values(headings).sort()).toEqual(tables.map(({ table }) => table).sort());
  });

  it.each(Object.entries(headings))(
    'the page of options lists under %s exactly the numbers of %s',
    (heading, name) => {
      const row = /^\| `(\w+)` \| ([^|]+) \| (-?[\d.]+) \| (\d+) \| (\w+) \| (.*) \|$/gm;
      const onPage = [...(sections.get(heading) ?? '').matchAll(row)].map(
        ([, option, fallback = '', min, max, unit, meaning = '']) => ({
          name: option,
          ...(/^(none|in SQL)/.test(fallback) ? {} : { default: Number(fallback) }),
          min: Number(min),
          max: Number(max),
          unit,
          ...(meaning.includes('Fractions allowed.') ? { fractions: true } : {}),
        }),
      );
      const { options: numbers } = tables.find(({ table }) => table === name) ?? { options: {} };
      const inCode = Object.entries<NumberOption>(numbers).map(([option, bounds]) => ({
        name: option,
        ...bounds,
      }));
      expect(onPage).toEqual(inCode);
    },
  );

  it.each(Object.keys(headings))(
    'the page of options lists under %s exactly the options that are taken',
    async (heading) => {
      const onPage = [...(sections.get(heading) ?? '').matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
      const taken = await known[heading]?.();
      expect(onPage.sort()).toEqual([...new Set(taken)].sort());
    },
  );
});

describe('Options', () => {
  const resolve = (given: Record<string, unknown>) =>
    resolveOptions('Test', coordinatorOptions, given, ['pool']);

  it('resolved options are frozen', () => {
    expect(Object.isFrozen(resolve({}))).toBe(true);
  });

  it('an unknown option is refused with the name that was probably meant', () => {
    expect(refusalOf(() => resolve({ leaseSecond: 5 })).hint).toBe('Did you mean leaseSeconds?');
    expect(refusalOf(() => resolve({ leaseseconds: 5 })).hint).toBe('Did you mean leaseSeconds?');
    expect(refusalOf(() => resolve({ pol: 5 })).hint).toBe('Did you mean pool?');
  });

  it('an unknown option is refused with all names when none is similar', () => {
    const error = refusalOf(() => resolve({ colour: 'blue' }));
    expect(error.details).toEqual({ option: 'colour' });
    for (const name of Object.keys(coordinatorOptions)) expect(error.hint).toContain(name);
  });
});
