import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { WhizbangError } from '../src/errors.js';
import { coordinatorOptions, type NumberOption, resolveOptions } from '../src/options.js';

const resolve = (given: Record<string, unknown>) =>
  resolveOptions('Test', coordinatorOptions, given, ['pool']);

function refusal(given: Record<string, unknown>): WhizbangError {
  try {
    resolve(given);
  } catch (error) {
    if (error instanceof WhizbangError && error.code === 'INVALID_OPTION') return error;
    throw error;
  }
  throw new Error(`${JSON.stringify(given)} was accepted`);
}

describe.each(Object.entries<NumberOption>(coordinatorOptions))('The option %s', (name, option) => {
  const step = option.fractions ? 0.001 : 1;

  it('is accepted at both ends of its bound', () => {
    expect(resolve({ [name]: option.min })).toMatchObject({ [name]: option.min });
    expect(resolve({ [name]: option.max })).toMatchObject({ [name]: option.max });
  });

  it('is refused beyond both ends of its bound, with the bound and the unit', () => {
    for (const value of [option.min - step, option.max + step]) {
      const error = refusal({ [name]: value });
      expect(error.details).toMatchObject({ option: name, value, min: option.min, max: option.max });
      expect(error.hint).toContain(`${option.unit} from ${option.min} to ${option.max}`);
    }
  });

  it('is refused when it is not a number of its kind', () => {
    const wrong = [Number.NaN, Number.POSITIVE_INFINITY, String(option.min), true, {}];
    for (const value of option.fractions ? wrong : [...wrong, option.min + 0.5]) {
      expect(refusal({ [name]: value }).details.option).toBe(name);
    }
  });

  it('has its default when it is left out', () => {
    expect(resolve({})[name as keyof typeof coordinatorOptions]).toBe(option.default);
    expect(resolve({ [name]: undefined })[name as keyof typeof coordinatorOptions]).toBe(option.default);
  });
});

describe('The page of options', () => {
  const page = readFileSync(new URL('../docs/reference/options.md', import.meta.url), 'utf8');
  const row = /^\| `(\w+)` \| (.+?) \| ([\d.]+) \| (\d+) \| (\w+) \|/gm;

  it('lists exactly the options that the code has, with their defaults, bounds and units', () => {
    const onPage = [...page.matchAll(row)].map(([, name, fallback = '', min, max, unit]) => ({
      name,
      ...(fallback.startsWith('in SQL') ? {} : { default: Number(fallback) }),
      min: Number(min),
      max: Number(max),
      unit,
    }));
    const inCode = Object.entries<NumberOption>(coordinatorOptions).map(
      ([name, { fractions: _, ...option }]) => ({
        name,
        ...option,
      }),
    );
    expect(onPage).toEqual(inCode);
  });
});

describe('Options', () => {
  it('are frozen once they are resolved', () => {
    expect(Object.isFrozen(resolve({}))).toBe(true);
  });

  it('suggest the name that was probably meant', () => {
    expect(refusal({ leaseSecond: 5 }).hint).toBe('Did you mean leaseSeconds?');
    expect(refusal({ leaseseconds: 5 }).hint).toBe('Did you mean leaseSeconds?');
    expect(refusal({ pol: 5 }).hint).toBe('Did you mean pool?');
  });

  it('list what there is when nothing comes near', () => {
    const error = refusal({ colour: 'blue' });
    expect(error.details).toEqual({ option: 'colour' });
    for (const name of Object.keys(coordinatorOptions)) expect(error.hint).toContain(name);
  });
});
