import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { WorkBatchRequest } from '../../src/coordinator/request.js';
import { decodeBatch, encodeCall, requestParts } from '../../src/coordinator/wire.js';
import { WhizbangError } from '../../src/errors.js';
import { createTestDatabase } from '../support/database.js';

const id = '01890a5d-ac96-774b-bcce-b302099a8057';
const instance = { instanceId: id, serviceName: 'orders', hostName: 'host', processId: 7 };
const encode = (request: WorkBatchRequest) => encodeCall('"whizbang"', instance, request);
/** For what the types would not allow. */
const encodeAnything = (request: object) => encode(request as WorkBatchRequest);

function refusal(request: object): WhizbangError {
  try {
    encodeAnything(request);
  } catch (error) {
    if (error instanceof WhizbangError && error.code === 'INVALID_REQUEST') return error;
    throw error;
  }
  throw new Error('the request was accepted');
}

describe('An encoded call', () => {
  it('an encoded call has every parameter in its place, and values only for those that are given', () => {
    const { text, values } = encode({ maxOutboxItems: 5, outboxCompletions: [{ messageId: id, status: 4 }] });
    const nulls = (count: number) => 'null, '.repeat(count);
    expect(text).toContain(
      `from "whizbang".process_work_batch($1::uuid, $2::text, $3::text, $4::int, null, $5::text::jsonb, ${nulls(11)}` +
        `0, 10000, null, 300, 600, $6::int, 1000, 1000, 5, null, 0, 0, null, null, null, null)`,
    );
    expect(values).toEqual([id, 'orders', 'host', '7', `[{"message_id":"${id}","status":4}]`, '5']);
  });

  it('an encoded call without room asks for no columns of messages', () => {
    const noRoom = { maxOutboxItems: 0, maxInboxItems: 0, maxPerspectiveItems: 0 };
    expect(encode(noRoom).text).not.toContain('event_data');
    expect(encode({ ...noRoom, maxInboxItems: 1 }).text).toContain('event_data');
  });

  it('an encoded call leaves out what is undefined or an empty array', () => {
    const { values } = encode({ outboxFailures: [], renewInboxLeaseIds: [], leaseSeconds: undefined });
    expect(values).toHaveLength(4);
  });

  it('an encoded call keeps zero, which claims nothing', () => {
    expect(encode({ maxInboxItems: 0 }).values.at(-1)).toBe('0');
  });

  it('an encoded call sends an empty list of handlers, which differs from no list', () => {
    expect(encode({ inboxHandlers: [] }).values.at(-1)).toBe('{}');
  });

  it('the name of a handler reaches PostgreSQL unchanged, whatever it contains', async () => {
    await using db = await createTestDatabase();
    const names = ['', 'null', 'NULL', 'a,b', '{}', '"', '\\', 'x\\"y', ' ü\n', "'; drop table wh_inbox"];
    const { rows } = await db.pool.query('select $1::text::text[] as names', [
      encode({ inboxHandlers: names }).values.at(-1),
    ]);
    expect(rows).toEqual([{ names }]);
  });

  it('the encoder knows the parameters of process_work_batch, in their order, and their defaults', async () => {
    await using db = await createTestDatabase();
    const { rows } = await db.pool.query(
      `select pg_get_function_arguments(oid) as args from pg_proc where proname = 'process_work_batch'`,
    );
    const inSql = [...rows[0].args.matchAll(/(p_\w+) (?:[\w[\]]+)(?: DEFAULT (?:(NULL)::[\w[\]]+|(\d+)))?/g)];
    const inTypeScript = [
      'instanceId',
      'serviceName',
      'hostName',
      'processId',
      'metadata',
      ...Object.keys(requestParts),
    ];
    expect(inSql.map(([, name]) => name)).toEqual(
      inTypeScript.map((key) => `p_${key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`),
    );
    const defaults = encode({})
      .text.replace(/.*process_work_batch\((.*)\)$/s, '$1')
      .split(', ')
      .slice(4);
    expect(defaults).toEqual(inSql.slice(4).map(([, , none, value]) => value ?? none?.toLowerCase()));
  });

  it('the page of options names the defaults that the parameters have in SQL', async () => {
    await using db = await createTestDatabase();
    const { rows } = await db.pool.query(
      `select pg_get_function_arguments(oid) as args from pg_proc where proname = 'process_work_batch'`,
    );
    const page = readFileSync(new URL('../../docs/reference/options.md', import.meta.url), 'utf8');
    const documented = [...page.matchAll(/^\| `(\w+)` \| in SQL: (.+?) \|/gm)];
    expect(documented).toHaveLength(5);
    for (const [, option = '', value = ''] of documented) {
      const parameter = `p_${option.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`;
      const inSql = new RegExp(`\\b${parameter} \\w+ DEFAULT (?:NULL::\\w+|(\\d+))`).exec(rows[0].args);
      expect(inSql?.[1] ?? 'no cap', parameter).toBe(value);
    }
  });

  it('an encoded call writes dates, null and nested data as JSON has them', () => {
    const message = {
      messageId: id,
      destination: 'd',
      eventType: 't',
      eventData: { itemName: [1, null, 'ü"'] },
      streamId: null,
      isEvent: undefined,
      scheduledFor: new Date('2030-01-02T03:04:05.678Z'),
    };
    expect(JSON.parse(encode({ newOutboxMessages: [message] }).values.at(-1) ?? '')).toEqual([
      {
        message_id: id,
        destination: 'd',
        event_type: 't',
        event_data: { itemName: [1, null, 'ü"'] },
        stream_id: null,
        scheduled_for: '2030-01-02T03:04:05.678Z',
      },
    ]);
  });

  it('an encoded call passes on a misspelt key, which the database refuses by name', () => {
    const { values } = encodeAnything({ newOutboxMessages: [{ messageId: id, streamid: 'x' }] });
    expect(values.at(-1)).toContain('"streamid":"x"');
  });

  it.each([
    ['p_renew_outbox_lease_ids[1]', { renewOutboxLeaseIds: [id, 'x'] }],
    ['p_renew_outbox_lease_ids[0]', { renewOutboxLeaseIds: [`${id}","${id}`] }],
    ['p_renew_inbox_lease_ids', { renewInboxLeaseIds: id }],
    ['p_inbox_handlers[1]', { inboxHandlers: ['a', null] }],
    ['p_inbox_handlers', { inboxHandlers: 'a' }],
    ['p_outbox_completions', { outboxCompletions: {} }],
    ['p_outbox_completions[0]', { outboxCompletions: ['x'] }],
    [
      'p_inbox_failures[0].retry_after_seconds',
      { inboxFailures: [{ messageId: id, retryAfterSeconds: Number.NaN }] },
    ],
    [
      'p_new_inbox_messages[1].scheduled_for',
      { newInboxMessages: [{}, { scheduledFor: new Date('never') }] },
    ],
    ['p_new_outbox_messages[0].event_data', { newOutboxMessages: [{ eventData: { amount: 1n } }] }],
  ])('the encoder refuses a %s that JSON or an array could not carry faithfully', (field, request) => {
    expect(refusal(request).details).toEqual({ field });
  });
});

describe('A decoded batch', () => {
  const row = {
    source: 'outbox',
    message_id: id,
    stream_id: null,
    partition_number: '17',
    destination: 'd',
    event_type: 't',
    event_data: '{"a":1}',
    metadata: null,
    scope: '"s"',
    status: '3',
    flags: '1',
    attempts: '2',
    sequence_order: '9007199254740993',
    lease_expiry: '1900000000.123999',
  };

  it('a decoded item has every field in a type that holds it whole', () => {
    expect(decodeBatch([row]).outbox).toEqual([
      {
        source: 'outbox',
        messageId: id,
        streamId: null,
        partitionNumber: 17,
        destination: 'd',
        eventType: 't',
        eventData: { a: 1 },
        metadata: null,
        scope: 's',
        status: 3,
        flags: 1,
        attempts: 2,
        sequenceOrder: 9007199254740993n,
        leaseExpiry: new Date(1900000000123),
      },
    ]);
  });

  it('a decoded batch is sorted into lanes, with the lost leases apart', () => {
    const batch = decodeBatch([
      { ...row, source: 'perspective' },
      { ...row, source: 'inbox' },
      { source: 'inbox', message_id: id, flags: '64', event_data: null, sequence_order: null },
    ]);
    expect([batch.outbox, batch.inbox, batch.perspectives].map((items) => items.length)).toEqual([0, 1, 1]);
    expect(batch.leaseLost).toEqual([{ source: 'inbox', messageId: id }]);
  });
});
