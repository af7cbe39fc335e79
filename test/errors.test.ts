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
  it('lists exactly the codes that the code has', () => {
    expect(documented.map(({ code }) => code).sort()).toEqual(Object.keys(errorCodes).sort());
  });

  it('says of each code whether it is retryable', () => {
    const inCode = Object.entries(errorCodes).map(([code, { retryable }]) => ({ code, retryable }));
    expect(documented.map(({ code, retryable }) => ({ code, retryable }))).toEqual(inCode);
  });

  it('lists exactly the SQLSTATEs that the table maps', () => {
    const onPage = documented.flatMap(({ code, states }) => states.map((state) => [state, code]));
    expect(Object.fromEntries(onPage)).toEqual(sqlStates);
  });
});

describe('WhizbangError', () => {
  it('takes hint and retryable from the table unless told a better hint', () => {
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

  it('is mapped by its SQLSTATE, then by the class of it, then to DATABASE_ERROR', () => {
    expect(codeOf('40P01')).toBe('DEADLOCK');
    expect(codeOf('08006')).toBe('CONNECTION_LOST');
    expect(codeOf('23505')).toBe('DATABASE_ERROR');
    expect(['53100', '53200', '58030'].map(codeOf)).toEqual(Array(3).fill('DATABASE_EXHAUSTED'));
  });

  it('names the refused field', () => {
    const error = fromDatabaseError(server('WB001', { column: 'p_flags' }));
    expect(error).toMatchObject({ code: 'INVALID_REQUEST', message: 'said the server', retryable: false });
    expect(error.details).toEqual({ sqlState: 'WB001', field: 'p_flags' });
  });

  it('carries the versions of a stream that had moved on', () => {
    const detail = '{"stream_id":"s","expected_version":1,"actual_version":3}';
    expect(fromDatabaseError(server('WB002', { detail })).details).toEqual({
      sqlState: 'WB002',
      streamId: 's',
      expectedVersion: 1,
      actualVersion: 3,
    });
  });

  it('gets through also when its detail is not ours', () => {
    expect(fromDatabaseError(server('WB002', { detail: 'x' })).details).toEqual({
      sqlState: 'WB002',
      detail: 'x',
    });
  });

  it('is found inside the wrapper of a query builder', () => {
    const wrapped = new Error('Failed query', { cause: server('40001') });
    expect(fromDatabaseError(wrapped)).toMatchObject({ code: 'SERIALIZATION', cause: wrapped });
  });

  it('is a lost connection when it did not come from the server, also when its code looks like an SQLSTATE', () => {
    const epipe = Object.assign(new Error('write EPIPE'), { code: 'EPIPE', syscall: 'write', errno: -32 });
    expect(serverErrorOf(epipe)).toBeUndefined();
    expect(fromDatabaseError(epipe).code).toBe('CONNECTION_LOST');
    expect(fromDatabaseError(new Error('Connection terminated unexpectedly')).code).toBe('CONNECTION_LOST');
  });

  it('stays as it is when it is already ours', () => {
    const ours = new WhizbangError('TIMEOUT', { message: 'late' });
    expect(fromDatabaseError(ours)).toBe(ours);
  });
});
