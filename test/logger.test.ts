import { afterEach, describe, expect, it, vi } from 'vitest';
import { consoleLogger, readsDebug, silentLogger } from '../src/logger.js';
import { withIds } from '../src/telemetry/traced-logger.js';

afterEach(() => vi.restoreAllMocks());

describe('The console logger', () => {
  it('the console logger writes each warning and each error as one line', () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const error = vi.spyOn(console, 'error').mockReturnValue();
    consoleLogger.warn({ attempt: 1, schemas: ['a', 'b'] }, 'An attempt failed');
    consoleLogger.error({}, 'It is over');
    expect(warn.mock.calls).toEqual([["whizbang: An attempt failed attempt=1 schemas=[ 'a', 'b' ]"]]);
    expect(error.mock.calls).toEqual([['whizbang: It is over']]);
  });

  it('the console logger writes the stack of an error as it is, at the end', () => {
    const error = vi.spyOn(console, 'error').mockReturnValue();
    consoleLogger.error({ error: 'Error: no\n    at here', type: 'OrderPlaced' }, 'Given up');
    expect(error.mock.calls).toEqual([["whizbang: Given up type='OrderPlaced': Error: no\n    at here"]]);
  });

  it('the console logger writes what to do behind the error', () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    consoleLogger.warn({ code: 'X', hint: 'Do it.', error: 'no' }, 'Failed');
    consoleLogger.warn({ hint: 'Do it.', error: 'no\n    at here' }, 'Failed');
    expect(warn.mock.calls).toEqual([
      ["whizbang: Failed code='X': no (Do it.)"],
      ['whizbang: Failed: no\n    at here\n    (Do it.)'],
    ]);
  });

  it('the console logger writes nothing below a warning', () => {
    const spies = (['log', 'info', 'debug', 'warn', 'error'] as const).map((name) => vi.spyOn(console, name));
    consoleLogger.info({}, 'Started');
    consoleLogger.debug({}, 'receptor');
    for (const spy of spies) expect(spy).not.toHaveBeenCalled();
  });
});

describe('A line for every message', () => {
  const heard = { ...silentLogger, debug: () => {} };
  const pino = (isOn: boolean) => ({ ...heard, isLevelEnabled: () => isOn });

  it('a logger is asked whether it reads debug lines, also behind the ids of an instance', () => {
    const asked = [consoleLogger, silentLogger, heard, pino(true), pino(false)];
    const expected = [false, false, true, true, false];
    expect(asked.map(readsDebug)).toEqual(expected);
    expect(asked.map((logger) => readsDebug(withIds(logger, 'a', () => ({}))))).toEqual(expected);
  });
});
