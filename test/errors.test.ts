import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { codeOf, fromDatabaseError, serverErrorOf } from '../src/database/index.js';
import { errorCodes, sqlStates, WhizbangError } from '../src/errors.js';

interface DocumentedCode {
  code: string;
  retryable: boolean;
  states: string[];
}

const page = readFileSync(new URL('../docs/reference/errors.md', import.meta.url), 'utf8');
const documented: DocumentedCode[] = [...page.matchAll(/^\| `([A-Z_]+)` \| (yes|no) \| (.*?) \|/gm)].map(
  ([, code = '', retryable, states = '']) => ({
    code,
    retryable: retryable === 'yes',
    states: [...states.matchAll(/`(\w+)…?`/g)].map(([, state = '']) => state),
  }),
);

describe('The page of errors', () => {
  it('the page of errors lists exactly the codes that the code has', () => {
    expect(documented.map(({ code }) => code).sort()).toEqual(Object.keys(errorCodes).sort());
  });

  it('the page of errors is right about which codes are retryable', () => {
    const inCode = Object.entries(errorCodes).map(([code, { retryable }]) => ({ code, retryable }));
    expect(documented.map(({ code, retryable }) => ({ code, retryable }))).toEqual(inCode);
  });

  it('the page of errors lists exactly the SQLSTATEs that the code maps', () => {
    const onPage = documented.flatMap(({ code, states }) => states.map((state) => [state, code]));
    expect(Object.fromEntries(onPage)).toEqual(sqlStates);
  });
});

describe('WhizbangError', () => {
  it('a WhizbangError has the hint and retryable of its code, unless it is given a better hint', () => {
    const plain = new WhizbangError('DEADLOCK', { message: 'no way' });
    expect(plain).toMatchObject({ hint: errorCodes.DEADLOCK.hint, retryable: true, details: {} });
    expect(plain.cause).toBeUndefined();
    const told = new WhizbangError('DEADLOCK', { message: 'x', hint: 'y', details: { a: 1 }, cause: plain });
    expect(told).toMatchObject({ message: 'x', hint: 'y', details: { a: 1 }, cause: plain });
  });
});

describe('An error of the driver', () => {
  const server = (code: string, more: object = {}) =>
    Object.assign(new Error('said the server'), { code, ...more });

  it('an error of the driver is mapped by its SQLSTATE, then by its class, then to DATABASE_ERROR', () => {
    expect(codeOf('40P01')).toBe('DEADLOCK');
    expect(codeOf('08006')).toBe('CONNECTION_LOST');
    expect(codeOf('23505')).toBe('DATABASE_ERROR');
    expect(['53100', '53200', '58030'].map(codeOf)).toEqual(Array(3).fill('DATABASE_EXHAUSTED'));
  });

  it('an error of the driver names the refused field', () => {
    const error = fromDatabaseError(server('WB001', { column: 'p_flags' }));
    expect(error).toMatchObject({ code: 'INVALID_REQUEST', message: 'said the server', retryable: false });
    expect(error.details).toEqual({ sqlState: 'WB001', field: 'p_flags' });
  });

  it('an error of the driver carries the versions of a stream that had moved on', () => {
    const detail = '{"stream_id":"s","expected_version":1,"actual_version":3}';
    expect(fromDatabaseError(server('WB002', { detail })).details).toEqual({
      sqlState: 'WB002',
      streamId: 's',
      expectedVersion: 1,
      actualVersion: 3,
    });
  });

  it('an error of the driver is mapped though its detail is not ours', () => {
    expect(fromDatabaseError(server('WB002', { detail: 'x' })).details).toEqual({
      sqlState: 'WB002',
      detail: 'x',
    });
  });

  it('an error of the driver is found inside the wrapper of a query builder', () => {
    const wrapped = new Error('Failed query', { cause: server('40001') });
    expect(fromDatabaseError(wrapped)).toMatchObject({ code: 'SERIALIZATION', cause: wrapped });
  });

  it('an error of the driver that is not from the server is a lost connection', () => {
    const epipe = Object.assign(new Error('write EPIPE'), { code: 'EPIPE', syscall: 'write', errno: -32 });
    expect(serverErrorOf(epipe)).toBeUndefined();
    expect(fromDatabaseError(epipe).code).toBe('CONNECTION_LOST');
    expect(fromDatabaseError(new Error('Connection terminated unexpectedly')).code).toBe('CONNECTION_LOST');
  });

  it('an error that is already a WhizbangError stays as it is', () => {
    const ours = new WhizbangError('TIMEOUT', { message: 'late' });
    expect(fromDatabaseError(ours)).toBe(ours);
  });
});
