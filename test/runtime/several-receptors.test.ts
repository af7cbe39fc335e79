// An event with several receptors in one service: each has its own attempts, its own delays and its own end.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { WorkCoordinator } from '../../src/coordination.js';
import {
  defineEvent,
  FinalError,
  inProcessTransport,
  receptor,
  type WhizbangEvents,
} from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { arrive, deadLetters } from './arrivals.js';
import { noting, recordsIn } from './receptor-records.js';
import { OrderPlaced, service } from './service.js';

const quickly = { firstDelaySeconds: 0.02, jitter: 0 };
const broken = (name: string) => () => new Error(`${name} is broken`);

const isHandled = (db: TestDatabase) =>
  eventually(async () => expect((await db.pool.query('select 1 from wh_inbox')).rows).toEqual([]));

async function isDead(db: TestDatabase) {
  return eventually(async () => {
    const letters = await deadLetters(db);
    expect(letters).toHaveLength(1);
    return letters[0] as (typeof letters)[number];
  });
}

describe('A receptor that fails', () => {
  it('a receptor that fails does not keep those behind it from running, each once', async () => {
    await using db = await createTestDatabase();
    const { runs, make } = noting();
    const mail = make('mail', { retry: quickly }, (attempt) => (attempt < 3 ? new Error('no') : undefined));
    const receptors = [mail, make('print', { transaction: false }), make('ship')];
    await using shop = service(db, { receptors, transport: inProcessTransport() });
    await shop.start();
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    await isHandled(db);
    expect(runs).toEqual(['mail 1', 'print 1', 'ship 1', 'mail 2', 'mail 3']);
    expect(await recordsIn(db)).toEqual([
      { name: 'mail', state: 'done', attempts: 2, error: null },
      { name: 'print', state: 'done', attempts: 0, error: null },
      { name: 'ship', state: 'done', attempts: 0, error: null },
    ]);
  });

  it('a receptor is given up after its own attempts, while another one goes on with its own', async () => {
    await using db = await createTestDatabase();
    const { runs, make } = noting();
    const mail = make('mail', { retry: { ...quickly, attempts: 3 } }, broken('mail'));
    const print = make('print', { retry: { ...quickly, attempts: 10, maxDelaySeconds: 0.05 } }, (attempt) =>
      attempt < 7 ? new Error('no paper') : undefined,
    );
    await using shop = service(db, { receptors: [mail, print], transport: inProcessTransport() });
    await shop.start();
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    const letter = await isDead(db);
    expect(runs.filter((run) => run.startsWith('mail'))).toEqual(['mail 1', 'mail 2', 'mail 3']);
    expect(runs.filter((run) => run.startsWith('print')).at(-1)).toBe('print 7');
    expect(letter.error).toMatch(/^mail: Error: mail is broken\n/);
    expect(await recordsIn(db)).toEqual([
      { name: 'mail', state: 'given up', attempts: 3, error: 'Error: mail is broken' },
      { name: 'print', state: 'done', attempts: 6, error: null },
    ]);
  });

  it('a receptor waits for its own delay, also when its message runs before for another one', async () => {
    await using db = await createTestDatabase();
    const at: number[] = [];
    const { runs, make } = noting();
    const slow = { firstDelaySeconds: 0.4, jitter: 0 };
    const mail = make('mail', { retry: slow }, (attempt) => {
      at.push(performance.now());
      return attempt === 1 ? new Error('no') : undefined;
    });
    const print = make('print', { retry: quickly }, (attempt) => (attempt < 3 ? new Error('no') : undefined));
    await using shop = service(db, { receptors: [mail, print], transport: inProcessTransport() });
    await shop.start();
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    await isHandled(db);
    expect(runs.toSorted()).toEqual(['mail 1', 'mail 2', 'print 1', 'print 2', 'print 3']);
    expect((at[1] as number) - (at[0] as number)).toBeGreaterThan(395);
  });

  it('a receptor whose error is final is given up alone', async () => {
    await using db = await createTestDatabase();
    const { runs, make } = noting();
    const mail = make('mail', {}, () => new FinalError('no such customer'));
    const print = make('print', { retry: quickly }, (attempt) =>
      attempt === 1 ? new Error('no') : undefined,
    );
    await using shop = service(db, { receptors: [mail, print], transport: inProcessTransport() });
    await shop.start();
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    expect((await isDead(db)).error).toMatch(/^mail: FinalError: no such customer/);
    expect(runs).toEqual(['mail 1', 'print 1', 'print 2']);
  });

  it('a receptor whose definition the payload does not fit is given up alone', async () => {
    await using db = await createTestDatabase();
    const { runs, make } = noting();
    const Strict = defineEvent('OrderPlaced', {
      schema: z.object({ orderId: z.string(), coupon: z.string() }),
      stream: ({ orderId }) => orderId,
    });
    const strict = receptor(Strict, { name: 'strict' }, () => void runs.push('strict'));
    await using shop = service(db, { receptors: [strict, make('print')], transport: inProcessTransport() });
    await shop.start();
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    expect((await isDead(db)).error).toMatch(/^strict: .*coupon/);
    expect(runs).toEqual(['print 1']);
  });

  it('a failure is not counted when a stop ends the run of the receptor behind it', async () => {
    await using db = await createTestDatabase();
    const { runs, make } = noting();
    let isRunning = () => {};
    const running = new Promise<void>((resolve) => (isRunning = resolve));
    const hangs = receptor(OrderPlaced, { name: 'hangs' }, async (_, { signal }) => {
      isRunning();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      signal.throwIfAborted();
    });
    await using shop = service(db, {
      receptors: [make('mail', {}, broken('mail')), hangs],
      transport: inProcessTransport(),
    });
    await shop.start();
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    await running;
    await shop.stop({ seconds: 0 });
    expect(runs).toEqual(['mail 1']);
    expect(await recordsIn(db)).toEqual([]);
    const { rows } = await db.pool.query('select attempts, instance_id from wh_inbox');
    expect(rows).toEqual([{ attempts: 0, instance_id: null }]);
  });
});

describe('A dead letter of an event with several receptors', () => {
  it('a dead letter names all receptors that are missing, and put back runs only those, with all their attempts', async () => {
    await using db = await createTestDatabase();
    const { runs, make } = noting();
    let isMended = false;
    const retry = { ...quickly, attempts: 2 };
    const fails = (name: string) => () => (isMended ? undefined : new Error(`${name} is broken`));
    await using shop = service(db, {
      receptors: [
        make('mail', { retry }, fails('mail')),
        make('print'),
        make('ship', { retry }, fails('ship')),
      ],
      transport: inProcessTransport(),
    });
    await shop.start();
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    const { error } = await isDead(db);
    expect(error.split('\n')[0]).toBe('2 receptors: mail, ship');
    expect(error).toContain('\nmail: Error: mail is broken\n');
    expect(error).toContain('\nship: Error: ship is broken\n');
    isMended = true;
    runs.length = 0;
    await db.pool.query(`
      with dead as (delete from wh_dead_letters returning *)
      insert into wh_inbox (message_id, handler_name, event_type, event_data, metadata, scope, stream_id, failures)
      select message_id, destination, event_type, event_data, metadata, scope, stream_id, failures from dead`);
    await isHandled(db);
    expect(runs).toEqual(['mail 1', 'ship 1']);
    expect(await recordsIn(db)).toMatchObject([
      { name: 'mail', state: 'done', attempts: 0 },
      { name: 'print', state: 'done', attempts: 0 },
      { name: 'ship', state: 'done', attempts: 0 },
    ]);
  });
});

describe('A message with several receptors whose instances die', () => {
  it('a message becomes a dead letter with its missing receptors after as many deaths as their most attempts', async () => {
    await using db = await createTestDatabase();
    const { runs, make } = noting();
    const id = await arrive(db, 'OrderPlaced', { orderId: 'a' });
    const gone = new WorkCoordinator({ pool: db.pool, instance: { serviceName: 'shop' }, leaseSeconds: 1 });
    await gone.processWorkBatch({
      receptorCompletions: [{ eventId: id, receptorName: 'print', status: 8 }],
    });
    for (let i = 0; i < 3; i++) await db.pool.query('select wh_count_interruption($1)', [id]);
    const attempts = (count: number) => ({ retry: { attempts: count } });
    await using shop = service(db, {
      receptors: [make('mail', attempts(4)), make('print', attempts(9)), make('ship', attempts(1))],
      transport: inProcessTransport(),
    });
    await shop.start();
    expect((await isDead(db)).error).toMatch(/4 instances died or stalled .* run by mail, ship\./);
    expect(runs).toEqual([]);
  });
});

describe('The events of an instance', () => {
  it('events and logs name the receptor that failed, that was given up, and that made a dead letter', async () => {
    await using db = await createTestDatabase();
    const { make } = noting();
    const logged: [string, object][] = [];
    const log = (facts: object, text: string) => void logged.push([text, facts]);
    const mail = make('mail', { retry: { ...quickly, attempts: 2 } }, broken('mail'));
    const print = make('print', { retry: { firstDelaySeconds: 0.3 } }, (n) =>
      n === 1 ? new Error('no') : undefined,
    );
    await using shop = service(db, {
      receptors: [mail, print],
      transport: inProcessTransport(),
      logger: { ...silentLogger, warn: log, error: log },
    });
    const letters: WhizbangEvents['deadLetter'][0][] = [];
    shop.on('deadLetter', (letter) => void letters.push(letter));
    await shop.start();
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    await isDead(db);
    expect(logged).toMatchObject([
      [
        'An attempt failed; the message will be tried again',
        { receptor: 'mail', attempt: 1, retryAfterSeconds: 0.02 },
      ],
      ['An attempt failed; the message will be tried again', { receptor: 'print', attempt: 1 }],
      ['A receptor was given up; its message goes on with the others', { receptor: 'mail', attempt: 2 }],
    ]);
    expect(letters).toMatchObject([{ receptor: 'mail', attempt: 2, type: 'OrderPlaced' }]);
  });

  it('events name the receptor also where a message has only one', async () => {
    await using db = await createTestDatabase();
    const onPlaced = receptor(OrderPlaced, { name: 'only', retry: { attempts: 1 } }, () => {
      throw new Error('no');
    });
    await using shop = service(db, { receptors: [onPlaced], transport: inProcessTransport() });
    const told = new Promise<WhizbangEvents['deadLetter'][0]>((resolve) => shop.on('deadLetter', resolve));
    await shop.start();
    await arrive(db, 'OrderPlaced', { orderId: 'a' });
    expect(await told).toMatchObject({ receptor: 'only', attempt: 1 });
  });
});
