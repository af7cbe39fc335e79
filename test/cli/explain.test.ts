// Each reason of explain, staged by calls, and named by the command line.
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { streamIdOf } from '../../src/index.js';
import { explain } from '../../src/operate/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { dataTables, ids, inbox, instance, message, outbox, stream } from '../support/work.js';
import { stages } from './explain-stages.js';
import { runCli } from './run-cli.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
beforeEach(async () => {
  await db.pool.query(`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and state like 'idle in transaction%';
    ${[...dataTables, 'wh_timers'].map((table) => `delete from ${table};`).join(' ')}
    delete from wh_lanes; insert into wh_lanes (lane) values ('outbox'), ('inbox')`);
});
afterAll(() => db.drop());

const run = (...args: string[]) => runCli(args, { DATABASE_URL: db.connectionString });
const staged = () => ({ db, a: instance(db, 'a'), b: instance(db, 'b') });
const codesOf = ({ reasons }: { reasons: readonly { code: string }[] }) => reasons.map(({ code }) => code);

describe('whizbang explain', () => {
  it.each(Object.entries(stages))('whizbang explain names the reason %s', async (code, stage) => {
    const id = await stage(staged());
    const { code: exitCode, stdout, stderr } = await run('explain', id, '--json');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(codesOf(JSON.parse(stdout))[0]).toBe(code);
    const { stdout: text } = await run('explain', id);
    expect(text).toMatch(new RegExp(`^1 ${code}: `, 'm'));
    expect(text).not.toContain('\u001b');
  });

  it('whizbang explain --json prints an id, its lane, reasons and instances, and nothing else', async () => {
    const { a, b } = staged();
    const [first, second] = await a.call(inbox.stores(...stream(2)));
    await a.call(
      inbox.fails(first ? [first] : [], { retry_after_seconds: 600, error: 'declined\nat pay()' }),
      inbox.releases(second ? [second] : []),
    );
    await b.call(inbox.room(0));
    const { stdout } = await run('explain', second?.message_id ?? '', '--json');
    expect(JSON.parse(stdout)).toEqual({
      id: second?.message_id,
      lane: 'inbox',
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      reasons: [
        {
          step: 1,
          code: 'scheduled',
          isBlocking: true,
          text: expect.stringMatching(/^It waits behind .*: it has failed once .*: declined$/),
          since: null,
          until: expect.stringMatching(/Z$/),
          facts: expect.objectContaining({
            behind: first?.message_id,
            type: 'shop.OrderPlaced',
            attempts: 1,
          }),
          remedy: expect.stringContaining(`whizbang retry-now ${first?.message_id}`),
        },
      ],
      instances: [
        { instanceId: a.id, canTake: false, code: 'scheduled' },
        { instanceId: b.id, canTake: false, code: 'nobody-asks' },
      ],
    });
  });

  it('whizbang explain takes the id of a stream, and the text that it is made from', async () => {
    const { a } = staged();
    const all = stream(2, { stream_id: streamIdOf('order-17') });
    await a.call(inbox.stores(...all));
    for (const id of [streamIdOf('order-17'), 'order-17']) {
      const answer = JSON.parse((await run('explain', id, '--json')).stdout);
      expect(answer).toMatchObject({ id: streamIdOf('order-17'), lane: 'inbox' });
      expect(answer.reasons[0]).toMatchObject({ code: 'held', facts: { message_id: all[0]?.message_id } });
    }
    expect((await run('explain', 'order-18')).stdout).toMatch(/^1 not-here: /m);
  });

  it('whizbang explain says until when a timer waits', async () => {
    const { a } = staged();
    const one = { ...message(), destination: 'orders', scheduled_for: '2999-01-01T00:00:00Z', metadata: {} };
    await a.call({ p_new_timers: [one] });
    const answer = JSON.parse((await run('explain', one.message_id, '--json')).stdout);
    expect(answer.reasons).toMatchObject([{ code: 'scheduled', until: '2999-01-01T00:00:00.000Z' }]);
  });

  it('whizbang explain says what holds a stream up in a perspective', async () => {
    const stream_id = streamIdOf('order-19');
    await db.pool.query(
      `insert into wh_perspective_checkpoints (stream_id, perspective_name, status, error, held, held_since, retry_at, failed_version, failed_type, attempts)
       values ($1, 'orders@1', 32768, E'no such field\nat fold()', true, now(), now() + interval '1 hour', 7, 'OrderPaid', 3)`,
      [stream_id],
    );
    const { stdout } = await run('explain', 'order-19');
    expect(stdout).toMatch(
      /^1 scheduled: The perspective orders@1 is held at version 7: no such field \(until/m,
    );
    expect(stdout).toContain('→ whizbang perspectives retry orders');
  });

  it('whizbang explain says that who could take it is alive, and asks for nothing', async () => {
    const id = await stages['claimable-now']?.(staged());
    await db.pool.query(`update wh_service_instances set last_call_at = now() - interval '1 minute'`);
    const answer = JSON.parse((await run('explain', id ?? '', '--json')).stdout);
    expect(answer.reasons[0]).toMatchObject({
      code: 'nobody-asks',
      isBlocking: true,
      text: expect.stringMatching(/did 60|did 6\d s ago/),
    });
    expect(answer.instances).toMatchObject([{ canTake: true, code: 'claimable-now' }]);
  });

  it('whizbang explain tells of a stream in both lanes', async () => {
    const { a } = staged();
    const stream_id = streamIdOf('order-20');
    await a.call(inbox.stores(message({ stream_id })), outbox.stores(message({ stream_id })));
    const answer = JSON.parse((await run('explain', 'order-20', '--json')).stdout);
    expect(answer.reasons).toMatchObject([
      { step: 1, code: 'held', facts: { lane: 'inbox' } },
      { step: 2, code: 'held', facts: { lane: 'outbox' } },
    ]);
  });

  it('whizbang explain names the session that has the row', async () => {
    const id = await stages['row-locked']?.(staged());
    const answer = JSON.parse((await run('explain', id ?? '', '--json')).stdout);
    expect(answer.reasons[0].facts.sessions).toEqual([
      expect.objectContaining({ state: 'idle in transaction' }),
    ]);
    const { pid } = answer.reasons[0].facts.sessions[0];
    expect(answer.reasons[0].remedy).toContain(`select pg_terminate_backend(${pid});`);
    expect(answer.instances).toEqual([{ instanceId: staged().a.id, canTake: false, code: 'row-locked' }]);
  });

  it('whizbang explain sees a lock that several subtransactions share', async () => {
    const { a } = staged();
    const work = await a.call(inbox.stores(message()));
    await a.call(inbox.releases(work), inbox.room(0));
    const other = await db.connect();
    await other.query('begin; select from wh_active_streams for no key update; savepoint s');
    await other.query('update wh_active_streams set head = head; release savepoint s');
    expect(codesOf(await explain(db.pool, 'whizbang', work[0]?.message_id ?? ''))).toContain('row-locked');
    await other.query('rollback');
    expect(codesOf(await explain(db.pool, 'whizbang', work[0]?.message_id ?? ''))).toEqual(['claimable-now']);
  });

  it('whizbang explain shows an example in its help, and fails with 1 if it cannot ask', async () => {
    expect((await run('explain', '--help')).stdout).toContain('Example:\n  $ whizbang explain');
    expect((await run('explain')).code).toBe(1);
    expect(await run('explain', message().message_id, '--schema', 'nowhere')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('NOT_MIGRATED'),
    });
  });
});

describe('Explain', () => {
  it('explain locks no row: it runs where locking one is refused', async () => {
    const { a } = staged();
    const one = message();
    await inbox.insertPlain(db.pool, one);
    await a.call(outbox.stores(...stream(2)), inbox.room(0));
    const reader = await db.connect();
    await reader.query('begin read only');
    await expect(
      reader.query('savepoint x').then(() => reader.query('select from wh_active_streams for no key update')),
    ).rejects.toMatchObject({ code: '25006' });
    await reader.query('rollback to savepoint x');
    await reader.query('select * from wh_explain_message($1)', [one.message_id]);
    await reader.query('select pg_current_xact_id_if_assigned() as id').then(({ rows }) => {
      expect(rows).toEqual([{ id: null }]);
    });
    // Its transaction is open, and whoever claims takes the message all the same.
    expect(ids(await a.call())).toEqual([one.message_id]);
    await reader.query('rollback');
  });

  it('explain may be granted to a role that reads no table, and shows no payload', async () => {
    const role = `${db.name}_reader`;
    await db.pool.query(`create role ${role}; grant usage on schema whizbang to ${role};
      grant execute on function whizbang.wh_explain_message, whizbang.wh_explain_stream to ${role}`);
    const pool = new pg.Pool({ connectionString: db.connectionString, options: `-c role=${role}`, max: 1 });
    try {
      const { a } = staged();
      const secret = { event_data: { card: '4711' }, metadata: { note: '4711' }, scope: { user: '4711' } };
      const [item] = await a.call(inbox.stores(message({ ...secret, stream_id: streamIdOf('o') })));
      for (const id of [item?.message_id ?? '', streamIdOf('o')]) {
        const answer = await explain(pool, 'whizbang', id);
        expect(codesOf(answer)).toEqual(['held']);
        expect(JSON.stringify(answer)).not.toContain('4711');
      }
      await expect(pool.query('select from whizbang.wh_inbox')).rejects.toMatchObject({ code: '42501' });
    } finally {
      await pool.end();
      await db.pool.query(`drop owned by ${role}; drop role ${role}`);
    }
  });
});
