import { describe, expect, it } from 'vitest';
import { jsonLogger } from '../src/relay/json-logger.js';
import { maskOf } from '../src/secrets.js';

describe('Secrets in URLs', () => {
  it.each([
    ['amqp://u:p%40ss@h', 'p@ss'],
    ['amqp://u:p%40ss@h', 'p%40ss'],
    ['nats://token-of-mine@h', 'token-of-mine'],
    ['nats://u:first@h1,nats://u:second@h2', 'second'],
    ['Endpoint=sb://h/;SharedAccessKeyName=n;SharedAccessKey=abc+/d=;EntityPath=q', 'abc+/d='],
    ['sb://n:abc%2B%2Fd%3D@h', 'abc+/d='],
    ['sqs+http://KEY:abc%2B%2Fd@h:4566', 'abc+/d'],
    ['postgres://h/d?password=secret&x=1', 'secret'],
    ['postgres://u:p@ss:pass@h/d', 'p@ss:pass'],
  ])('the text %s has its secret %s masked wherever it appears', (url, secret) => {
    const masked = maskOf([url, undefined])(`login failed for "${secret}" (${secret}) at ${url}`);
    expect(masked).not.toContain(secret);
    expect(masked).toContain('***');
  });

  it('the names, hosts and other text stay readable', () => {
    const mask = maskOf(['amqp://user:ab@host', 'postgres://user@host/d']);
    expect(mask('cannot reach host as user at amqp://user:ab@host')).toBe(
      'cannot reach host as user at amqp://user:***@host',
    );
  });
});

describe('The log of a relay', () => {
  const linesOf = (level: 'debug' | 'warn') => {
    const lines: string[] = [];
    const logger = jsonLogger({
      level,
      mask: maskOf(['amqp://u:secret@h']),
      write: (line) => lines.push(line),
    });
    return { logger, lines };
  };

  it('every line is one JSON object with time, level, message and facts, and every text in it is masked', () => {
    const { logger, lines } = linesOf('debug');
    const error = new Error('no secret here', { cause: new Error('secret') });
    logger.warn({ error, nested: { list: ['a secret', 1n] }, text: 'line\nbreak' }, 'it says secret');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/\n$/);
    expect(lines.join('')).not.toContain('secret');
    expect(JSON.parse(lines[0] as string)).toMatchObject({
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      level: 'warn',
      message: 'it says ***',
      error: 'Error: no *** here',
      nested: { list: ['a ***', '1'] },
      text: 'line\nbreak',
    });
  });

  it('a fact that refers to itself is logged all the same', () => {
    const { logger, lines } = linesOf('debug');
    const facts: Record<string, unknown> = { password: 'the secret' };
    facts.self = facts;
    logger.info(facts, 'a circle');
    expect(JSON.parse(lines[0] as string)).toMatchObject({ level: 'info', message: 'a circle' });
    expect(lines[0]).not.toContain('secret');
  });

  it('a line below the level is left out', () => {
    const { logger, lines } = linesOf('warn');
    logger.debug({}, 'd');
    logger.info({}, 'i');
    logger.error({}, 'e');
    expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual(['e']);
  });
});
