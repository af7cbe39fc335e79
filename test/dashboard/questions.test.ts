// What the page can be asked, over a database in which every text is an attack.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { streamIdOf } from '../../src/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { inbox, instance, message, outbox, stream } from '../support/work.js';
import { actionNames, ask, open, questionsWith } from './support/pages.js';

const script = '</script><img src=x onerror=alert(1)>';
const sql = "'; drop table wh_inbox; --";
const trace = '0af7651916cd43dd8448eb211c80319c';
const failing = message({
  event_type: `Pay${script}`,
  event_data: { card: '4711', note: script },
  metadata: {
    traceparent: `00-${trace}-b7ad6b7169203331-01`,
    correlationId: 'c-1',
    hops: [{ service: 'web', instanceId: 'i', at: '2026-01-01T00:00:00.000Z' }],
  },
});
const dead = stream(2, { stream_id: streamIdOf('order-1'), event_type: 'PlaceOrder' });
const deep = stream(5, { stream_id: streamIdOf('deep') });

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  const a = instance(db, 'a');
  await a.call(outbox.room(0), {
    p_facts: { version: '0.1.0', handled: '9007199254740993', failed: 1, published: 3, calls: 9 },
  });
  const letters = await a.call(inbox.stores(...dead), outbox.room(0));
  await a.call(inbox.fails(letters, { error: `${sql}\n${script}`, dead_letter: true }), outbox.room(0));
  const [item] = await a.call(inbox.stores(failing), outbox.room(0));
  await a.call(
    inbox.fails([item as never], { error: script, retry_after_seconds: 600 }),
    outbox.room(0),
    inbox.room(0),
  );
  await a.call(inbox.stores(...deep), outbox.room(0), inbox.room(0));
  await a.call(outbox.room(0), inbox.room(1));
});
afterAll(() => db.drop());

describe('Questions of the page', () => {
  it('an overview has lanes, instances with exact counts, and the load by owner', async () => {
    const { status, body } = await ask(open(db), 'api/overview');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      lanes: [{ lane: 'outbox' }, { lane: 'inbox', scheduledStreams: 1, deadLetters: 2 }],
      instances: [{ version: '0.1.0', isStale: false, inboxShare: 1, handled: '9007199254740993' }],
    });
    const [cell] = body.load;
    expect(cell).toMatchObject({ lane: 'inbox', owner: instance(db, 'a').id, streams: 1 });
  });

  it('streams are listed by how long they wait, or by depth', async () => {
    const page = open(db);
    const waiting = await ask(page, 'api/streams');
    expect(waiting.body.streams).toHaveLength(2);
    const deepest = await ask(page, 'api/streams?order=deepest&lane=inbox');
    expect(deepest.body.streams[0]).toMatchObject({
      streamId: streamIdOf('deep'),
      depth: '5',
      lane: 'inbox',
    });
    expect((await ask(page, 'api/streams?lane=outbox')).body.streams).toEqual([]);
    expect((await ask(page, 'api/stream?id=deep')).body).toMatchObject({
      streamId: streamIdOf('deep'),
      messages: deep.map(({ message_id: messageId }) => ({ messageId, keptIn: 'inbox' })),
    });
  });

  it('a message has its failures, hops and trace, and no payload until that is asked for', async () => {
    const page = open(db, { traceUrl: 'https://traces.example/{traceId}' });
    const id = failing.message_id;
    const { body } = await ask(page, `api/message?id=${id}`);
    expect(body).toMatchObject({
      message: {
        state: 'retrying',
        type: `Pay${script}`,
        attempts: 1,
        failures: [{ attempt: 1, error: script }],
      },
      trail: { correlationId: 'c-1', hops: [{ service: 'web' }] },
      traceUrl: `https://traces.example/${trace}`,
    });
    expect(JSON.stringify(body)).not.toContain('4711');
    expect((await ask(page, `api/payload?id=${id}`)).body).toEqual({
      payload: { card: '4711', note: script },
    });
    expect((await ask(page, `api/message?id=${randomUUID()}`)).body).toMatchObject({
      message: { state: 'unknown' },
    });
    expect((await ask(page, `api/payload?id=${randomUUID()}`)).status).toBe(404);
  });

  it('a finished message with a history has the lanes that it passed, and no payload', async () => {
    const page = open(db, { traceUrl: 'https://traces.example/{traceId}' });
    const a = instance(db, 'a').with({ p_flags: 100 << 16, p_max_outbox_items: 0, p_max_inbox_items: 5 });
    const finished = message({ metadata: failing.metadata });
    const [item] = await a.call(inbox.stores(finished));
    await a.call(inbox.completes([item as never]));
    const { body } = await ask(page, `api/message?id=${finished.message_id}`);
    expect(body).toMatchObject({
      message: { state: 'finished' },
      trail: null,
      passed: [{ lane: 'inbox', attempts: 0, instanceId: a.id, hops: [{ service: 'web' }] }],
      hasPayload: false,
      traceUrl: `https://traces.example/${trace}`,
    });
  });

  it('no list of the page holds a payload', async () => {
    const page = open(db);
    for (const question of [
      'api/dead-letters',
      'api/search?text=Pay',
      'api/streams',
      `api/search?text=${failing.message_id}`,
    ])
      expect(JSON.stringify((await ask(page, question)).body)).not.toContain('4711');
  });

  it('a payload is changed by a mask, and never shown with mask: true', async () => {
    const path = `api/payload?id=${failing.message_id}`;
    const mask = (payload: unknown, { type }: { type: string }) => ({
      ...(payload as object),
      card: '…',
      type,
    });
    expect((await ask(open(db, { mask }), path)).body.payload).toMatchObject({
      card: '…',
      type: failing.event_type,
    });
    expect((await ask(open(db, { mask: true }), path)).status).toBe(403);
  });

  it('a search finds a message by id, a stream by its name, and types among the newest', async () => {
    const page = open(db);
    const id = failing.message_id;
    expect((await ask(page, `api/search?text=${id}`)).body.message).toEqual({
      messageId: id,
      state: 'retrying',
    });
    expect((await ask(page, 'api/search?text=deep')).body.stream.messages).toHaveLength(5);
    const { body } = await ask(page, `api/search?text=${'PlaceOrder'.toLowerCase()}`);
    expect(body).toMatchObject({ searchedMessages: 100_000, types: [{ keptIn: 'dead letters' }, {}] });
  });

  it('a message and a stream are explained, where the schema has the functions', async () => {
    const page = open(db);
    const paths = [`api/explain?id=${failing.message_id}`, 'api/explain?stream=deep'];
    const codes = async (path: string) =>
      (await ask(page, path)).body.reasons?.map(({ code }: { code: string }) => code);
    expect(await codes(paths[0] as string)).toContain('scheduled');
    expect(await codes(paths[1] as string)).toContain('held');
    expect(await codes('api/explain?stream=nothing')).toEqual([]);
    await db.pool.query(
      'alter function wh_explain_message rename to gone; alter function wh_explain_stream rename to gone_too',
    );
    try {
      for (const path of paths) expect((await ask(page, path)).body).toEqual({ reasons: null });
    } finally {
      await db.pool.query(
        'alter function gone rename to wh_explain_message; alter function gone_too rename to wh_explain_stream',
      );
    }
  });
});

describe('A page that is attacked', () => {
  it('every answer forbids inline script, framing and guessing of types', async () => {
    const page = open(db);
    for (const path of ['/', 'api/overview', 'api/nothing', 'api/session', 'missing']) {
      const { headers } = await ask(page, path);
      expect(headers.get('content-security-policy')).toContain("script-src 'self'");
      expect(headers.get('content-security-policy')).not.toContain('unsafe');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-frame-options')).toBe('DENY');
    }
    expect((await ask(page, '/')).body).not.toMatch(/<script(?![^>]*\bsrc=)|\son\w+=|<style/);
  });

  it('SQL, script and nonsense in every parameter are refused or looked for as text', async () => {
    const page = open(db, { allowActions: true });
    const attacks = [
      sql,
      script,
      "' or '1'='1",
      '"; --',
      '%00',
      '-1',
      '1e9',
      '[]',
      '{}',
      'x'.repeat(2_000),
      '$1',
      "\\'",
    ];
    for (const question of questionsWith(failing.message_id)) {
      const { pathname, searchParams } = new URL(question, 'http://x/');
      for (const name of ['schema', ...searchParams.keys()]) {
        for (const attack of attacks) {
          const changed = new URLSearchParams(searchParams);
          changed.set(name, attack);
          const { status } = await ask(page, `${pathname}?${changed}`);
          expect([question, name, attack, status < 500]).toEqual([question, name, attack, true]);
        }
      }
    }
    for (const action of actionNames)
      for (const attack of [...attacks, null, 7, {}, [sql], { ids: 1 }])
        for (const body of [
          { ids: attack },
          { ids: [attack] },
          { type: attack, dryRun: true },
          { id: attack },
          { id: randomUUID(), reason: attack },
          { instance: attack },
          { intake: attack },
          { schema: attack, ids: [failing.message_id] },
          { stream: attack, dryRun: true },
        ])
          expect((await ask(page, `api/${action}`, { body })).status).toBeLessThan(500);
    const { rows } = await db.pool.query(
      'select count(*)::int as messages from wh_inbox where sequence_order > 0', // without what a pause puts there
    );
    expect(rows).toEqual([{ messages: 6 }]);
    expect((await ask(page, 'api/dead-letters')).body.letters).toHaveLength(2);
  });

  it('a redirect of the page never leaves its host', async () => {
    const page = open(db);
    for (const path of ['ops', '/%2F%2F192.0.2.1', '/..%2f..%2f192.0.2.1', '/a%0d%0a-x:y', '/%E0%A4%A']) {
      const location = (await ask(page, path)).headers.get('location') ?? '';
      expect([path, new URL(location, 'http://ops.example.com/x/').host]).toEqual([path, 'ops.example.com']);
      expect(location).toMatch(/^\.\/[^/]+\/$/);
    }
  });

  it('a schema that is not on the list is refused, and one that is not migrated says what to do', async () => {
    const page = open(db, { schemas: ['whizbang', 'No "Such" schema'] });
    expect((await ask(page, 'api/overview?schema=public')).status).toBe(404);
    const { status, body } = await ask(page, `api/overview?schema=${encodeURIComponent('No "Such" schema')}`);
    expect([status, body.error]).toEqual([404, expect.stringContaining('whizbang migrate')]);
  });
});
