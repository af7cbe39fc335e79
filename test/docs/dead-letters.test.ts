// The guide to retries and dead letters: its SQL runs as it is written, and what it says of what is put back holds.
import { describe, expect, it } from 'vitest';
import { inProcessTransport, receptor } from '../../src/index.js';
import type { Transport } from '../../src/transport.js';
import { arrive, deadLetters } from '../runtime/arrivals.js';
import { OrderPlaced, service } from '../runtime/service.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { codeBlocks, pageText } from './page.js';

/** By the comment in their first line. */
const page = pageText('docs/guide/retries-and-dead-letters.md');
const queries = new Map(codeBlocks(page, 'sql').map((sql) => [/^-- (.*)\n/.exec(sql)?.[1] ?? sql, sql]));

function ask(db: TestDatabase, name: string, messageId = '') {
  const sql = queries.get(name) ?? `The page has no query ${name}`;
  return db.pool.query(sql.replaceAll('<message id>', messageId).replaceAll('<type>', 'OrderPlaced'));
}

const isEmpty = async (db: TestDatabase, table: string) =>
  expect((await db.pool.query(`select 1 from ${table}`)).rows).toEqual([]);

describe('Dead letters', () => {
  it('a dead letter is shown with its attempts, and put back runs only the receptor that failed', async () => {
    await using db = await createTestDatabase();
    const runs: string[] = [];
    let isMended = false;
    const first = receptor(OrderPlaced, { name: 'first' }, () => void runs.push('first'));
    const retry = { attempts: 2, firstDelaySeconds: 0.02 };
    const second = receptor(OrderPlaced, { name: 'second', retry }, (_, { attempt, envelope }) => {
      runs.push(`second ${attempt} of ${envelope.correlationId}`);
      if (!isMended) throw new Error(`broken at ${attempt}`);
    });
    await using shop = service(db, { receptors: [first, second], transport: inProcessTransport() });
    await shop.start();
    const id = await arrive(db, 'OrderPlaced', { orderId: 'a' }, { correlationId: 'c' });
    await eventually(async () => expect(await deadLetters(db)).toHaveLength(1));

    const { rows: shown } = await ask(db, 'look');
    expect(shown).toMatchObject([
      { message_id: id, source: 'inbox', attempts: 2, error: 'second: Error: broken at 2' },
    ]);
    const { rows: story } = await ask(db, 'story', id);
    expect(story).toMatchObject([
      { attempt: '1', error: expect.stringContaining('broken at 1') },
      { attempt: '2', error: expect.stringContaining('broken at 2') },
    ]);

    await ask(db, 'put back', id);
    await eventually(async () => expect(await deadLetters(db)).toHaveLength(1));
    const { rows: receptors } = await ask(db, 'receptors', id);
    expect(receptors).toMatchObject([
      { receptor_name: 'first', attempts: 0, processed_at: expect.any(Date), given_up_at: null },
      {
        receptor_name: 'second',
        attempts: 2,
        processed_at: null,
        given_up_at: expect.any(Date),
        error: 'Error: broken at 2',
      },
    ]);
    const { rows: longer } = await ask(db, 'story', id);
    expect(longer.map(({ attempt }) => attempt)).toEqual(['1', '2', '1', '2']);

    isMended = true;
    await ask(db, 'put back', id);
    await eventually(async () => {
      await isEmpty(db, 'wh_inbox');
      await isEmpty(db, 'wh_dead_letters');
    });
    const tries = ['1', '2', '1', '2', '1'].map((attempt) => `second ${attempt} of c`);
    expect(runs).toEqual(['first', ...tries]);
  });

  it('dead letters of one type are put back in the order of their stream', async () => {
    await using db = await createTestDatabase();
    const steps: number[] = [];
    let isMended = false;
    const onPlaced = receptor(OrderPlaced, { retry: { attempts: 1 } }, ({ step }) => {
      if (!isMended) throw new Error('broken');
      steps.push(step);
    });
    await using shop = service(db, { receptors: [onPlaced], transport: inProcessTransport() });
    await shop.start();
    for (const step of [1, 2, 3, 4]) await arrive(db, 'OrderPlaced', { orderId: 'a', step });
    await eventually(async () => expect(await deadLetters(db)).toHaveLength(4));
    isMended = true;
    await ask(db, 'put all back');
    await eventually(() => expect(steps).toEqual([1, 2, 3, 4]));
    await isEmpty(db, 'wh_dead_letters');
  });

  it('a dead letter of the outbox is sent again, though its event was appended already', async () => {
    await using db = await createTestDatabase();
    const seen: string[] = [];
    const transport = refusing();
    const onPlaced = receptor(OrderPlaced, ({ orderId }) => void seen.push(orderId));
    await using shop = service(db, { receptors: [onPlaced], transport });
    await shop.start();
    const id = await shop.publish(OrderPlaced({ orderId: 'a' }));
    await eventually(async () => expect(await deadLetters(db)).toMatchObject([{ attempts: 1 }]));
    transport.isMended = true;
    await ask(db, 'put back', id);
    await eventually(() => expect(seen).toEqual(['a']));
    const { rows } = await db.pool.query('select version from wh_event_store');
    expect(rows).toEqual([{ version: '1' }]);
  });
});

/** A transport that refuses for good what it is given, until it is mended. */
function refusing(): Transport & { isMended: boolean } {
  const inner = inProcessTransport();
  const transport = {
    name: 'refusing',
    traits: inner.traits,
    isMended: false,
    async connect(host: Parameters<Transport['connect']>[0]) {
      const connection = await inner.connect(host);
      const send: typeof connection.send = async (messages, signal) =>
        transport.isMended
          ? connection.send(messages, signal)
          : messages.map(() => ({ kind: 'failed', error: new Error('too large'), final: true }));
      return {
        send,
        receive: connection.receive.bind(connection),
        ready: connection.ready.bind(connection),
        close: connection.close.bind(connection),
      };
    },
  };
  return transport;
}
