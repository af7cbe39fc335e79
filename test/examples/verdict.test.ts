// A verdict that cannot fail is worthless: worlds that went wrong in one way each, and what the judge says to them.
import { describe, expect, it } from 'vitest';
import { reportOf } from '../../examples/demo/report.js';
import { judge } from '../../examples/demo/verdict.js';
import { createTables } from '../../examples/demo/world.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';

/** Both services in one schema: the judge only reads. */
const here = { shop: 'whizbang', warehouse: 'whizbang' };
const message = (stream: number, step: number) => `00000000-0000-7000-8000-0000000${stream}000${step}`;
const stream = (number: number) => `00000000-0000-7000-9000-00000000000${number}`;
const rolledBack = message(9, 9);

/**
 * Two streams of three steps; step 2 of stream 1 is a dead letter. One was killed and two stalled, and three has gone on
 * with what they held. Two has come back late with step 3 of stream 2.
 */
const rightWorld = `
  insert into steps (message_id, stream_id, order_id, step, is_last, is_doomed, at)
  select ('00000000-0000-7000-8000-0000000' || s || '000' || n)::uuid, ('00000000-0000-7000-9000-00000000000' || s)::uuid,
    'order ' || s, n, n = 3, (s, n) = (1, 2), now() - interval '60 s'
  from generate_series(1, 2) s, generate_series(1, 3) n;
  insert into rolled_back values ('${rolledBack}');
  insert into wh_message_deduplication (message_id) select message_id from steps;
  insert into effects (n, message_id, stream_id, step, instance, attempt, at) overriding system value
  select (s.step * 10 + right(s.stream_id::text, 1)::int), s.message_id, s.stream_id, s.step,
    case s.step when 3 then 'three' else case right(s.stream_id::text, 1) when '1' then 'one' else 'two' end end, 1,
    now() - interval '60 s' + s.step * interval '10 s'
  from steps s where not s.is_doomed;
  insert into wh_dead_letters (source, message_id, destination, event_type, event_data, is_event, status, flags, sequence_order,
    attempts, stored_at, died_at)
  select 'inbox', message_id, 'OrderMoved', 'OrderMoved', '{}', false, 0, 0, 1, 4, at, at + interval '25 s'
  from steps where is_doomed;
  insert into interruptions values
    ('kill', 'one', now() - interval '45 s', array['${stream(1)}'::uuid]),
    ('stall', 'two', now() - interval '45 s', array['${stream(2)}'::uuid]);
  insert into late values (99, '${message(2, 3)}', 'two');
  insert into shipped (message_id, order_id) select gen_random_uuid(), order_id from steps where is_last`;

async function judged(db: TestDatabase, mistake = '') {
  await createTables(db.pool, here);
  await db.pool.query(rightWorld);
  if (mistake !== '') await db.pool.query(mistake);
  const verdicts = await judge(db.pool, here, 6);
  return { verdicts, ...reportOf(verdicts) };
}

describe('The verdict of the demo', () => {
  it('the verdict of the demo is right for a world in which every promise is kept', async () => {
    await using db = await createTestDatabase();
    const { verdicts, text, exitCode } = await judged(db);
    expect(verdicts.filter(({ holds }) => !holds)).toEqual([]);
    expect(verdicts).toHaveLength(12);
    expect(text).toContain('Everything is as promised.');
    expect(text).toContain('15.0 s to the first');
    expect(exitCode).toBe(0);
  });

  const effect = (row: string) =>
    `insert into effects (n, message_id, stream_id, step, instance, attempt) overriding system value values (${row})`;

  it.each<[string, string, string[]]>([
    [
      'a message that was never stored',
      `delete from steps where step = 3 and order_id = 'order 1'`,
      [
        'stored',
        'handled',
        'handled but never committed',
        'answered by the receptors',
        'recovery after the kill',
      ],
    ],
    [
      'a message that was not delivered',
      `delete from wh_message_deduplication where message_id = '${message(1, 1)}'`,
      ['delivered'],
    ],
    ['a lost message', `delete from effects where message_id = '${message(1, 1)}'`, ['handled', 'lost']],
    ['a message given up that should not be', `update steps set is_doomed = false`, ['handled', 'lost']],
    [
      'a doubled effect',
      effect(`100, '${message(1, 3)}', '${stream(1)}', 3, 'three', 1`),
      ['effects doubled'],
    ],
    [
      'an effect of a dead letter',
      effect(`25, '${message(1, 2)}', '${stream(1)}', 2, 'three', 1`),
      ['handled', 'effects doubled'],
    ],
    [
      'a step before the one that it follows',
      `update effects set (message_id, step) = (select e.message_id, e.step from effects e
         where e.stream_id = effects.stream_id and e.step = 3 - effects.step)
       where stream_id = '${stream(2)}' and step < 3`,
      ['order violations'],
    ],
    [
      'a step that did not wait until the one before was given up',
      `update wh_dead_letters set died_at = now()`,
      ['order violations'],
    ],
    [
      'a message of a transaction that was rolled back',
      `insert into wh_message_deduplication values ('${rolledBack}')`,
      ['handled but never committed'],
    ],
    [
      'an effect of a message that nobody stored',
      effect(`101, '${message(5, 1)}', '${stream(5)}', 1, 'three', 1`),
      ['handled', 'handled but never committed'],
    ],
    [
      'an answer that is missing',
      `delete from shipped where order_id = 'order 1'`,
      ['answered by the receptors'],
    ],
    ['an answer given twice', `insert into shipped table shipped limit 1`, ['answered by the receptors']],
    [
      'a message that still waits',
      `insert into wh_inbox (message_id, handler_name, event_type, event_data) values (gen_random_uuid(), 'a', 'b', '{}')`,
      ['left waiting'],
    ],
    [
      'work of the killed one that nobody went on with',
      `update effects set instance = 'one' where stream_id = '${stream(1)}'`,
      ['recovery after the kill'],
    ],
    ['nobody being stalled', `delete from interruptions where what = 'stall'`, ['recovery after the stall']],
    ['no late completion to refuse', `delete from late`, ['late completions refused']],
    [
      'a late completion accepted though another one had done it',
      effect(`99, '${message(2, 3)}', '${stream(2)}', 3, 'two', 1`),
      ['effects doubled', 'late completions refused'],
    ],
  ])('the verdict of the demo says NO to %s', async (_, mistake, refuted) => {
    await using db = await createTestDatabase();
    const { verdicts, text, exitCode } = await judged(db, mistake);
    const failed = verdicts.filter(({ holds }) => !holds).map(({ claim }) => claim);
    expect(failed).toEqual(refuted);
    for (const claim of refuted) expect(text).toMatch(new RegExp(`^ {3}NO {3}${claim}`, 'm'));
    expect(text).toContain('Not every promise was kept.');
    expect(exitCode).toBe(1);
  });

  it('the verdict of the demo fails a world in which nothing happened', async () => {
    await using db = await createTestDatabase();
    await createTables(db.pool, here);
    expect(reportOf(await judge(db.pool, here, 6)).exitCode).toBe(1);
    expect(reportOf([]).exitCode).toBe(1);
  });
});
