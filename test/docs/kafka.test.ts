// The page on Kafka: its statements run as they are written, on a server with wal_level = logical. The log is read by pgoutput,
// as Debezium does. There is no Kafka here: what Debezium makes of it is not tested.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../../src/migrate/index.js';
import type { TestDatabase } from '../support/database.js';
import { createDatabaseOnOwnServer } from '../support/own-server.js';
import { codeBlocks, pageText } from './page.js';
import { insertedRows } from './pgoutput.js';

const [grants = '', insert = '', setUp = '', cleaner = '', insertAndDelete = ''] = codeBlocks(
  pageText('docs/transports/kafka.md'),
  'sql',
);
/** The statements of the cleaner, without what is psql's own. */
const [note = '', , ask = '', clean = ''] = cleaner
  .replaceAll(/^\\.*$|^--.*$/gm, '')
  .split(/\\g\S*(?: \/dev\/null)?|;/)
  .map((statement) => statement.trim());

describe('The page on Kafka', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createDatabaseOnOwnServer({
      wal_level: 'logical',
      max_replication_slots: '4',
      max_wal_senders: '4',
    });
    await migrate({ connectionString: db.connectionString, schema: 'kafka' });
    await db.pool.query(grants);
    await db.pool.query(setUp.split(';')[0] as string);
    await db.pool.query(setUp.split(';')[1] as string);
  });
  afterAll(() => db.drop());

  const write = `insert into kafka.wh_outbox (message_id, destination, event_type, event_data, stream_id)
    values (gen_random_uuid(), 'orders', $1, '{}', '00000000-0000-4000-8000-000000000001')`;
  /** What comes out of the log, and stays there, or, with `get`, is confirmed; of so many transactions. */
  const readLog = async (how: 'peek' | 'get', transactions?: number) => {
    const { rows } = await db.pool.query<{ data: Buffer }>(
      `select data from pg_logical_slot_${how}_binary_changes('whizbang_kafka', null, $1,
         'proto_version', '1', 'publication_names', 'whizbang_kafka')`,
      [transactions ?? null],
    );
    return insertedRows(rows.map(({ data }) => data));
  };
  const typesOf = (rows: readonly Readonly<Record<string, string | null>>[]) =>
    rows.map(({ event_type }) => event_type);
  const inTable = async () =>
    (
      await db.pool.query<{ event_type: string }>(
        'select event_type from kafka.wh_outbox order by sequence_order',
      )
    ).rows.map(({ event_type }) => event_type);
  const noted = async () =>
    (await db.pool.query<{ ids: string[]; mark: string }>(note)).rows[0] as { ids: string[]; mark: string };
  const isConfirmed = async (mark: string) => {
    const { rows } = await db.pool.query<{ is_confirmed: boolean }>(ask.replace(":'mark'", `'${mark}'`));
    return rows[0]?.is_confirmed;
  };
  const cleanUp = (ids: readonly string[]) => db.pool.query(clean.replace(":'ids'", `'{${ids.join(',')}}'`));

  it('the log has the columns that the connector maps, of inserts only, and the application may only insert', async () => {
    const client = await db.connect();
    await client.query('set role shop');
    await client.query(insert);
    await expect(client.query('select * from kafka.wh_outbox')).rejects.toMatchObject({ code: '42501' });
    await expect(
      client.query(`select * from kafka.process_work_batch(gen_random_uuid(), 'shop', 'h', 1)`),
    ).rejects.toMatchObject({ code: '42501' });
    const [row] = await readLog('get');
    expect(row).toMatchObject({
      destination: 'orders',
      event_type: 'OrderPlaced',
      event_data: '{"total": 42}',
      stream_id: '00000000-0000-4000-8000-000000000001',
      metadata: '{}',
    });
    for (const column of ['message_id', 'sequence_order']) expect(row?.[column]).toEqual(expect.any(String));
    await db.pool.query('update kafka.wh_outbox set attempts = 1');
    await db.pool.query('delete from kafka.wh_outbox');
    expect(await readLog('get')).toEqual([]);
  });

  it('rows come out of the log in the order of the commits, and the cleaner deletes only what is confirmed', async () => {
    const [early, late] = [await db.connect(), await db.connect()];
    await early.query('begin');
    await early.query(write, ['inserted first']);
    await late.query('begin');
    await late.query(write, ['second, 1']);
    await late.query(write, ['second, 2']);
    await late.query('commit');
    await db.pool.query(write, ['third']);

    const first = await noted();
    expect(first.ids).toHaveLength(3);
    await early.query('commit');
    expect(typesOf(await readLog('peek'))).toEqual(['second, 1', 'second, 2', 'third', 'inserted first']);

    // Nothing is confirmed, then the first transaction only: the third row would be lost.
    expect(await isConfirmed(first.mark)).toBe(false);
    expect(typesOf(await readLog('get', 1))).toEqual(['second, 1', 'second, 2']);
    expect(await isConfirmed(first.mark)).toBe(false);
    expect(typesOf(await readLog('get'))).toEqual(['third', 'inserted first']);
    expect(await isConfirmed(first.mark)).toBe(true);
    await cleanUp(first.ids);
    // It was not there when the cleaner looked: the next run takes it.
    expect(await inTable()).toEqual(['inserted first']);

    await db.pool.query(write, ['fourth']);
    const second = await noted();
    expect(await isConfirmed(second.mark)).toBe(false);
    expect(typesOf(await readLog('get'))).toEqual(['fourth']);
    expect(await isConfirmed(second.mark)).toBe(true);
    await cleanUp(second.ids);
    expect(await inTable()).toEqual([]);
    expect(await readLog('get')).toEqual([]);
  });

  it('a row that is inserted and deleted in one transaction is in the log, and the table stays empty', async () => {
    await db.pool.query(insertAndDelete);
    expect(await inTable()).toEqual([]);
    expect(typesOf(await readLog('get'))).toEqual(['OrderPaid']);
  });

  it('the cleaner has no answer without the slot', async () => {
    const { rows } = await db.pool.query(
      ask.replace(":'mark'", "'0/0'").replace("'whizbang_kafka'", "'no_such_slot'"),
    );
    expect(rows).toEqual([]);
  });
});
