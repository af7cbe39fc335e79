// The commands that act: each asks or takes --yes, changes nothing with --dry-run, says who did it, and tells what it did.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { streamIdOf } from '../../src/index.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { dataTables, ids, inbox, instance, message, stream } from '../support/work.js';
import { runCli } from './run-cli.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
beforeEach(async () => {
  await db.pool.query(dataTables.map((table) => `delete from ${table}`).join(';'));
  await db.pool.query('update wh_lanes set paused = null');
});
afterAll(() => db.drop());

const run = (...args: string[]) => runCli(args, { DATABASE_URL: db.connectionString });
const operations = async () =>
  (await db.pool.query('select who, operation, target from wh_operations order by id')).rows;
const takeover = { p_takeover_seconds: 0 };

describe('The commands that act', () => {
  it('a command that acts refuses to go on where nobody can answer, and says how', async () => {
    const refused = await run('pause', 'intake');
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('--yes') });
    const { stderr } = await run('pause', 'type', 'a\u001b[31mb');
    expect(stderr).toContain('Pause type ab?');
    expect(stderr).not.toContain('\u001b');
    expect(await operations()).toEqual([]);
  });

  it('whizbang retry-now makes a message due, and exits with 2 if it does not wait', async () => {
    const a = instance(db, 'a');
    const [item] = await a.call(inbox.stores(message()));
    await a.call(inbox.fails([item as never], { retry_after_seconds: 600 }));
    const id = item?.message_id as string;
    const dry = await run('retry-now', id, '--dry-run');
    expect(dry).toMatchObject({ code: 0, stdout: `It would be so: Message ${id} is due now.\n` });
    expect(await a.call()).toEqual([]);
    expect(await run('retry-now', id, '--who', 'anna')).toMatchObject({ code: 0, stderr: '' });
    expect(ids(await a.call())).toEqual([id]);
    expect(await run('retry-now', id)).toMatchObject({ code: 2 });
    expect(await operations()).toEqual([{ who: 'anna', operation: 'retry-now', target: `message ${id}` }]);
  });

  it('whizbang give-up makes a message a dead letter, and tells how it was as JSON', async () => {
    const a = instance(db, 'a');
    const all = stream(2);
    await a.call(inbox.stores(...all), inbox.room(1));
    const id = all[0]?.message_id as string;
    const dry = JSON.parse((await run('give-up', id, '--dry-run', '--json')).stdout);
    expect(dry).toMatchObject({ done: true, dryRun: true, operation: 'give-up', before: { held_by: a.id } });
    expect(await operations()).toEqual([]);
    const done = await run('give-up', id, '--yes', '--json', '--reason', 'ticket 7');
    expect(JSON.parse(done.stdout)).toMatchObject({ done: true, before: { reason: 'ticket 7' } });
    expect(ids(await a.call(takeover))).toEqual([all[1]?.message_id]);
    expect(await run('give-up', id, '--yes')).toMatchObject({ code: 2 });
  });

  it('whizbang release ends the leases of a stream and of an instance', async () => {
    const [a, b] = [instance(db, 'a'), instance(db, 'b')];
    const stream_id = streamIdOf('order-17');
    await a.call(inbox.stores(message({ stream_id }), message()));
    expect(await run('release', 'stream', 'order-17', '--yes')).toMatchObject({ code: 0 });
    expect(await b.call(takeover)).toMatchObject([{ stream_id }]);
    expect(await run('release', 'instance', a.id, '--yes')).toMatchObject({ code: 0 });
    expect(await b.call(takeover)).toHaveLength(1);
    expect(await run('release', 'instance', a.id, '--yes')).toMatchObject({ code: 2 });
    expect(await run('release', 'lane', 'x', '--yes')).toMatchObject({ code: 1 });
    expect(await run('release', 'instance', 'x', '--yes')).toMatchObject({ code: 1 });
  });

  it('whizbang pause and resume stop a type, a stream and the intake, and operations lists it', async () => {
    const a = instance(db, 'a');
    const one = message({ stream_id: streamIdOf('order-1') });
    await inbox.insertPlain(db.pool, one);
    for (const target of [['type', 'orders'], ['stream', 'order-1'], ['intake']]) {
      const done = await run(
        'pause',
        ...target,
        '--yes',
        '--reason',
        'the\u001b[31m gateway',
        '--who',
        'anna',
      );
      expect(done).toMatchObject({ code: 0, stderr: '' });
      expect(await run('pause', ...target, '--yes')).toMatchObject({ code: 2 });
      expect(await a.call()).toEqual([]);
      const { stdout } = await run('operations');
      expect(stdout).toMatch(new RegExp(`^Paused: ${target[0]} .*by anna: the gateway$`, 'm'));
      expect((await run('status')).stdout).toContain(`Paused by anna`);
      expect(await run('resume', ...target)).toMatchObject({ code: 0, stderr: '' });
      expect(await run('resume', ...target)).toMatchObject({ code: 2 });
    }
    expect(ids(await a.call())).toEqual([one.message_id]);
    const listed = JSON.parse((await run('operations', '--json', '--limit', '2')).stdout);
    expect(listed).toMatchObject({
      pauses: [],
      operations: [{ operation: 'resume' }, { operation: 'pause' }],
    });
    const older = await run('operations', '--json', '--before', String(listed.operations[1].id));
    expect(JSON.parse(older.stdout).operations).toHaveLength(4);
    for (const wrong of [['type'], ['intake', 'x'], ['lane', 'x']]) {
      expect(await run('pause', ...wrong, '--yes')).toMatchObject({ code: 1 });
    }
  });
});

describe('whizbang dead-letters', () => {
  const die = async (count: number, error = 'declined', order = 'order-1') => {
    const a = instance(db, 'a');
    const all = stream(count, { stream_id: streamIdOf(order), event_type: 'ChargeCard' });
    const items = await a.call(inbox.stores(...all));
    await a.call(inbox.fails(items, { dead_letter: true, error }));
    return all;
  };

  it('whizbang dead-letters list and show print no payload, and nothing that a terminal obeys', async () => {
    const [one] = await die(1, 'declined \u001b[31mred\nat pay()');
    const id = one?.message_id as string;
    const list = await run('dead-letters', 'list', '--type', 'ChargeCard', '--stream', 'order-1');
    expect(list).toMatchObject({ code: 0, stderr: '' });
    expect(list.stdout).toMatch(/ChargeCard .*declined red$/m);
    expect(list.stdout).not.toContain('total');
    expect(list.stdout).not.toContain('\u001b');
    expect((await run('dead-letters', 'list', '--type', 'Other')).stdout).toBe(
      'There are no dead letters.\n',
    );
    const shown = JSON.parse((await run('dead-letters', 'show', id, '--json')).stdout);
    expect(shown).toMatchObject({ messageId: id, lane: 'inbox', type: 'ChargeCard', attempts: 1 });
    expect(shown).not.toHaveProperty('payload');
    const whole = await run('dead-letters', 'show', id, '--payload');
    expect(whole.stdout).toContain('payload: {"total":1}');
    expect(await run('dead-letters', 'show', randomUUID())).toMatchObject({ code: 2 });
  });

  it('whizbang dead-letters retry puts back a stream in order, and discard deletes by type', async () => {
    const all = await die(3);
    const dry = JSON.parse(
      (await run('dead-letters', 'retry', '--stream', 'order-1', '--dry-run', '--json')).stdout,
    );
    expect(ids(dry.letters.map((each: { messageId: string }) => ({ message_id: each.messageId })))).toEqual(
      ids(all),
    );
    expect(await operations()).toEqual([]);
    const done = await run('dead-letters', 'retry', '--stream', 'order-1', '--yes', '--who', 'anna');
    expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('3 dead letters put back.') });
    expect(ids(await instance(db, 'a').call())).toEqual(ids(all));
    await die(2, 'declined', 'order-2');
    expect(await run('dead-letters', 'discard', '--type', 'ChargeCard')).toMatchObject({ code: 1 });
    const discarded = await run('dead-letters', 'discard', '--type', 'ChargeCard', '--yes');
    expect(discarded.stdout).toContain('2 dead letters discarded.');
    expect(await run('dead-letters', 'discard', '--type', 'ChargeCard', '--yes')).toMatchObject({ code: 2 });
    expect(await run('dead-letters', 'retry', '--yes')).toMatchObject({ code: 1 });
    expect(await operations()).toMatchObject([
      { who: 'anna', operation: 'retry-dead-letters' },
      { operation: 'discard-dead-letters', target: 'type ChargeCard' },
    ]);
  });

  it('whizbang events reads a stream by version, and all by position, with payloads only when asked', async () => {
    const a = instance(db, 'a');
    const events = stream(3, { stream_id: streamIdOf('order-1'), is_event: true });
    await a.call(inbox.stores(...events, ...stream(1, { is_event: true })));
    const some = JSON.parse((await run('events', 'order-1', '--from', '2', '--json')).stdout);
    expect(some).toMatchObject([{ version: 2, eventId: events[1]?.message_id }, { version: 3 }]);
    expect(some[0]).not.toHaveProperty('payload');
    const rest = JSON.parse(
      (await run('events', '--from', String(some[1].position), '--json', '--payload')).stdout,
    );
    expect(rest).toMatchObject([{ version: 3, payload: { total: 1 } }, { version: 1 }]);
    expect((await run('events', 'order-1', '--limit', '1')).stdout).toMatch(
      /POSITION +EVENT .*AT\n.*shop\.OrderPlaced/,
    );
  });
});

describe('The help of a command', () => {
  it('the help of every command has an example, and the options of the database', async () => {
    const commands = [
      ['dead-letters', 'list'],
      ['dead-letters', 'show'],
      ['dead-letters', 'retry'],
      ['dead-letters', 'discard'],
      ...['events', 'operations', 'tail', 'dev', 'release', 'pause', 'resume', 'retry-now', 'give-up'].map(
        (name) => [name],
      ),
    ];
    const helps = await Promise.all(
      commands.map(async (command) => (await run(...command, '--help')).stdout),
    );
    for (const help of helps) {
      for (const part of ['Example:\n  $ whizbang ', '--database-url', '--schema', '--json'])
        expect(help).toContain(part);
    }
  });
});
