// Who may look at the page, and who may not: each test is an attack, and the last ones are those who may.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { actionNames, ask, bearer, open, questionsWith, token } from './support/pages.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

const id = '0190aaaa-0000-7000-8000-000000000001';
const own = { origin: 'http://ops.example.com', host: 'ops.example.com' };

describe('A page with a token', () => {
  it('a page answers no question and no action without the token or with another one', async () => {
    const page = open(db, { allowActions: true });
    for (const headers of [
      {},
      { authorization: 'Bearer x' },
      { authorization: `Basic ${token}` },
      { cookie: 'whizbang_dashboard=e30.x' },
    ]) {
      for (const question of [...questionsWith(id), 'api/session', 'api/live'])
        expect([question, (await ask(page, question, { headers })).status]).toEqual([question, 401]);
      for (const action of actionNames)
        expect(
          (await ask(page, `api/${action}`, { headers: { ...headers, ...own }, body: { id, ids: [id] } }))
            .status,
        ).toBe(401);
    }
  });

  it('a page without a session shows the sign-in, with nothing of the service in it', async () => {
    const { status, body } = await ask(open(db), '/', { headers: {} });
    expect(status).toBe(401);
    expect(body).toContain('<div id="page">');
  });

  it('signing in gives a cookie that scripts and other sites cannot use, and that opens the page', async () => {
    const page = open(db);
    expect((await ask(page, 'ops/api/sign-in', { headers: own, body: { token: 'guess' } })).status).toBe(401);
    const { status, headers } = await ask(page, 'ops/api/sign-in', {
      headers: own,
      body: { token, who: 'ann' },
    });
    expect(status).toBe(200);
    const cookie = headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/; Path=\/ops\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/);
    expect(cookie).not.toContain(token);
    const [pair = ''] = cookie.split(';');
    expect((await ask(page, 'api/session', { headers: { cookie: `other=1; ${pair}` } })).body).toMatchObject({
      who: 'ann',
    });
    expect((await ask(page, 'api/session', { headers: { cookie: pair.replace('=', '=x') } })).status).toBe(
      401,
    );
    expect(
      (await ask(open(db, { token: 'another secret' }), 'api/session', { headers: { cookie: pair } })).status,
    ).toBe(401);
  });

  it('a session ends after its time', async () => {
    const page = open(db);
    const { headers } = await ask(page, 'api/sign-in', { headers: own, body: { token } });
    const cookie = (headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 13 * 3_600_000);
    const { status } = await ask(page, 'api/session', { headers: { cookie } });
    vi.restoreAllMocks();
    expect(status).toBe(401);
  });

  it('a cookie never gets an attribute from the path of a request', async () => {
    const { headers } = await ask(open(db), '/x;Domain=example.com/api/sign-in', {
      headers: own,
      body: { token },
    });
    expect(headers.get('set-cookie')).toContain('; Path=/; ');
  });
});

describe('A request of another origin', () => {
  it('a question or an action of another origin is refused, whoever asks', async () => {
    const page = open(db, { allowActions: true });
    const foreign = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'http://ops.example.com.evil.example' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site', origin: 'http://other.example.com' },
    ] as Record<string, string>[];
    for (const headers of foreign) {
      expect((await ask(page, 'api/session', { headers: { ...bearer, ...headers } })).status).toBe(403);
      for (const action of actionNames)
        expect(
          (await ask(page, `api/${action}`, { headers: { ...bearer, ...headers }, body: { id, ids: [id] } }))
            .status,
        ).toBe(403);
      expect((await ask(page, 'api/sign-in', { headers, body: { token } })).status).toBe(403);
    }
  });

  it('an action with a cookie is refused when it does not say from which origin it comes', async () => {
    const page = open(db, { allowActions: true });
    const { headers } = await ask(page, 'api/sign-in', { headers: own, body: { token } });
    const cookie = (headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    const body = { ids: [id] };
    expect((await ask(page, 'api/retry-dead-letters', { headers: { cookie }, body })).status).toBe(403);
    expect((await ask(page, 'api/retry-dead-letters', { headers: { cookie, ...own }, body })).status).toBe(
      200,
    );
  });

  it('an action is refused as a form would send it, and by GET', async () => {
    const { fetch } = open(db, { allowActions: true });
    const url = 'http://ops.example.com/api/retry-dead-letters';
    const headers = { ...bearer, ...own, 'content-type': 'text/plain' };
    expect(
      (await fetch(new Request(url, { method: 'POST', headers, body: `{"ids":["${id}"]}` }))).status,
    ).toBe(415);
    expect((await fetch(new Request(`${url}?ids=${id}`, { headers: bearer }))).status).toBe(404);
    expect((await fetch(new Request(url, { method: 'PUT', headers, body: '{}' }))).status).toBe(405);
  });
});

describe('A reader', () => {
  it('a reader who acts is refused by every action before anything is read', async () => {
    for (const allowActions of [undefined, false, (who: string) => who === 'ann']) {
      const page = open(db, { allowActions });
      for (const action of actionNames) {
        const { status, body } = await ask(page, `api/${action}`, {
          body: { schema: 'none', id, ids: ['x'] },
        });
        expect([action, status, body.error]).toEqual([action, 403, expect.stringContaining('read-only')]);
      }
    }
  });

  it('a check of your own names who it is, and decides who may act', async () => {
    const page = open(db, {
      token: undefined,
      authorize: (request) => request.headers.get('x-user') ?? undefined,
      allowActions: (who) => who === 'ann',
    });
    const as = (user: string) => ({ 'x-user': user, ...own });
    expect((await ask(page, 'api/session', { headers: {} })).status).toBe(401);
    expect((await ask(page, '/', { headers: {} })).status).toBe(401);
    expect((await ask(page, 'api/session', { headers: as('bob') })).body).toMatchObject({
      who: 'bob',
      mayAct: false,
    });
    const body = { ids: [id] };
    expect((await ask(page, 'api/discard-dead-letters', { headers: as('bob'), body })).status).toBe(403);
    expect((await ask(page, 'api/discard-dead-letters', { headers: as('ann'), body })).status).toBe(200);
  });
});

describe('Options of the page', () => {
  it('a page refuses an empty token, an unknown option, a schema twice and no database', async () => {
    const fault = (options: object) => {
      try {
        open(db, options);
        return undefined;
      } catch (error) {
        return (error as { details?: { option?: string } }).details?.option;
      }
    };
    expect(fault({ token: '' })).toBe('token');
    expect(fault({ secret: 'x' })).toBe('secret');
    expect(fault({ schemas: ['a', 'a'] })).toBe('schemas');
    expect(fault({ schemas: ['pg_catalog'] })).toBe('schema');
    expect(fault({ pool: undefined })).toBe('pool');
    expect(fault({ allowActions: 'yes' })).toBe('allowActions');
    expect(fault({ mask: 'yes' })).toBe('mask');
    expect(fault({ traceUrl: 'javascript:alert(1)//{traceId}' })).toBe('traceUrl');
    expect(fault({ authorize: () => 'me' })).toBe('authorize');
  });
});
