import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { WhizbangError } from '../../src/errors.js';
import { resolveSettings } from '../../src/relay/index.js';

const folder = mkdtempSync(join(tmpdir(), 'relay-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(content: unknown): string {
  const path = join(folder, `${Math.random()}.json`);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const needed = { databaseUrl: 'postgres://h/d', service: 'till', to: 'amqp://h' };

function refusal(flags: object, env: Record<string, string> = {}): WhizbangError {
  try {
    resolveSettings({ ...flags }, env);
  } catch (error) {
    return error as WhizbangError;
  }
  throw new Error('it was not refused');
}

describe('Settings of a relay', () => {
  it('a relay has defaults for all settings but the database, the service and where to publish', () => {
    expect(resolveSettings(needed, {})).toEqual({
      ...needed,
      schema: 'whizbang',
      from: undefined,
      listen: [],
      healthPort: undefined,
      healthHost: '127.0.0.1',
      leaseSeconds: 15,
      stopSeconds: 10,
      logLevel: 'info',
    });
  });

  it('a flag comes before its environment variable, and that before the file', () => {
    const config = file({
      ...needed,
      schema: 'of-file',
      healthPort: 1,
      leaseSeconds: 3,
      from: 'nats://f',
      listen: ['a'],
    });
    const env = {
      WHIZBANG_CONFIG: config,
      WHIZBANG_SCHEMA: 'of-env',
      WHIZBANG_HEALTH_PORT: '2',
      WHIZBANG_SERVICE: '',
    };
    expect(resolveSettings({ schema: 'of-flag' }, env)).toMatchObject({
      databaseUrl: 'postgres://h/d',
      service: 'till',
      schema: 'of-flag',
      healthPort: 2,
      leaseSeconds: 3,
      listen: ['a'],
    });
    expect(
      resolveSettings({ config: file({ ...needed, schema: 'other' }) }, { WHIZBANG_CONFIG: config }).schema,
    ).toBe('other');
  });

  it('a relay with --from listens to the name of its service, or to the addresses that it is given', () => {
    const from = 'nats://h';
    expect(resolveSettings({ ...needed, from }, {}).listen).toEqual(['till']);
    expect(resolveSettings({ ...needed, from, listen: ['a', 'b'] }, {}).listen).toEqual(['a', 'b']);
    expect(resolveSettings({ ...needed, from }, { WHIZBANG_LISTEN: 'a, b' }).listen).toEqual(['a', 'b']);
  });

  it.each([
    [{ ...needed, to: undefined }, {}, '--to'],
    [{ ...needed, databaseUrl: '' }, {}, '--database-url'],
    [{ ...needed, databaseUrl: 'localhost/d' }, {}, '--database-url'],
    [
      { ...needed, databaseUrl: undefined },
      { DATABASE_URL: 'postgres://u:p%40ss:word/@h/d' },
      'DATABASE_URL',
    ],
    [{ ...needed, databaseUrl: 'postgres://u:%e0%a4@h/d' }, {}, '--database-url'],
    [{ ...needed, service: undefined }, {}, '--service'],
    [{ ...needed, healthPort: '65536' }, {}, '--health-port'],
    [{ ...needed, healthPort: 'x' }, {}, '--health-port'],
    [needed, { WHIZBANG_LEASE_SECONDS: '1' }, 'WHIZBANG_LEASE_SECONDS'],
    [needed, { WHIZBANG_STOP_SECONDS: '-1' }, 'WHIZBANG_STOP_SECONDS'],
    [{ ...needed, logLevel: 'loud' }, {}, '--log-level'],
    [{ ...needed, listen: ['a'] }, {}, '--listen'],
    [{ ...needed, from: 'nats://h' }, { WHIZBANG_LISTEN: 'a,,b' }, 'WHIZBANG_LISTEN'],
    [{ ...needed, config: '/nowhere/relay.json' }, {}, '--config'],
  ])('a wrong setting is refused by the name under which it was given: case %#', (flags, env, option) => {
    const error = refusal(flags, env as Record<string, string>);
    expect(error).toBeInstanceOf(WhizbangError);
    expect(error).toMatchObject({ code: 'INVALID_OPTION', details: { option } });
    expect(error.message).toContain(option === '--config' ? '/nowhere/relay.json' : option);
    expect(`${error.message}${error.hint}`).not.toContain('ss:word');
  });

  it('a file that is not JSON, not an object, or has an unknown key is refused and not quoted', () => {
    const broken = refusal({ config: file('{"to": "amqp://u:hush-hush@h') });
    expect(broken.message).toContain('is not JSON');
    expect(`${broken.message}${String(broken.cause)}`).not.toContain('hush');
    expect(refusal({ config: file([1]) }).message).toContain('is not a JSON object');
    expect(refusal({ config: file({ databaseUrls: 'x' }) }).hint).toBe('Did you mean databaseUrl?');
    const config = file({ ...needed, healthPort: 'no' });
    expect(refusal({ config }).message).toContain(`healthPort in ${config}`);
    expect(refusal({ config: file({ ...needed, schema: 7 }) }).message).toContain('schema in');
  });
});
