import { describe, expect, it } from 'vitest';
import { inProcessTransport, type Readiness, receptor } from '../../src/index.js';
import type { Subscription, Transport, TransportHost, TransportState } from '../../src/transport.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { arrive } from './arrivals.js';
import { OrderPlaced, service } from './service.js';

/** A transport whose connection tells what the test wants it to tell. */
function talkingTransport() {
  const inner = inProcessTransport();
  let onState: (state: TransportState) => void = () => {};
  const subscriptions: Subscription[] = [];
  const transport: Transport = {
    name: inner.name,
    traits: inner.traits,
    connect: async (host: TransportHost) => {
      const connection = await inner.connect({ ...host, onState: () => {} });
      onState = (state) => host.onState(state);
      return {
        receive: (subscription, deliver) => {
          subscriptions.push(subscription);
          return connection.receive(subscription, deliver);
        },
        send: (messages, signal) => connection.send(messages, signal),
        ready: (signal) => connection.ready(signal),
        close: () => connection.close(),
      };
    },
  };
  return { transport, subscriptions, tell: (state: TransportState) => onState(state) };
}

describe('A transport that is away', () => {
  it('an instance starts while the transport is away, works off its inbox, and sends when it is back', async () => {
    await using db = await createTestDatabase();
    const transport = inProcessTransport();
    const steps: number[] = [];
    const told: Readiness[] = [];
    const onPlaced = receptor(OrderPlaced, ({ step }) => void steps.push(step));
    await using shop = service(db, { receptors: [onPlaced], transport });
    shop.on('readiness', (readiness) => told.push(readiness));
    transport.goAway();

    await shop.start();
    expect(shop.readiness).toEqual({ database: true, transport: false });
    await arrive(db, 'OrderPlaced', { orderId: 'a', step: 1 });
    await eventually(() => expect(steps).toEqual([1]));
    for (const step of [2, 3]) await shop.publish(OrderPlaced({ orderId: 'a', step }));
    const waiting = await db.pool.query('select attempts from wh_outbox');
    expect(waiting.rows).toEqual([{ attempts: 0 }, { attempts: 0 }]);

    transport.comeBack();
    await eventually(() => expect(steps).toEqual([1, 2, 3]));
    expect(told).toEqual([
      { database: true, transport: false },
      { database: true, transport: true },
    ]);
  });

  it('the readiness follows what the connection tells of sending and of receiving', async () => {
    await using db = await createTestDatabase();
    const { transport, tell } = talkingTransport();
    const logged: string[] = [];
    const logger = {
      debug: () => {},
      info: (_: object, text: string) => void logged.push(`info ${text}`),
      warn: (facts: object, text: string) => void logged.push(`warn ${text} ${JSON.stringify(facts)}`),
      error: () => {},
    };
    const told: boolean[] = [];
    await using shop = service(db, { receptors: [receptor(OrderPlaced, () => {})], transport, logger });
    await shop.start();
    shop.on('readiness', (readiness) => told.push(readiness.transport));

    tell({ sending: true, receiving: false, error: new Error('The queue is gone.') });
    expect(shop.readiness).toEqual({ database: true, transport: false });
    tell({ sending: false, receiving: false, error: new Error('The broker is gone.') });
    tell({ sending: false, receiving: true });
    expect(shop.readiness.transport).toBe(false);
    tell({ sending: true, receiving: true });

    expect(shop.readiness).toEqual({ database: true, transport: true });
    expect(told).toEqual([false, true]);
    const ofTransport = logged.filter((line) => /transport/.test(line));
    expect(ofTransport).toEqual([
      expect.stringMatching(/^warn The transport cannot be .*The queue is gone\./),
      'info The transport can be reached again',
    ]);
  });

  it('a receiver gets the receive prefetch, not the prefetch of the inbox', async () => {
    await using db = await createTestDatabase();
    const { transport, subscriptions } = talkingTransport();
    const options = { receptors: [receptor(OrderPlaced, () => {})], transport };
    await using shop = service(db, { ...options, prefetch: 7, receivePrefetch: 123 });
    await shop.start();
    await shop.stop();
    await using next = service(db, options);
    await next.start();

    expect(subscriptions).toEqual([
      { addresses: ['shop', 'OrderPlaced'], prefetch: 123 },
      { addresses: ['shop', 'OrderPlaced'], prefetch: 1_000 },
    ]);
  });
});

describe('A message that PostgreSQL refuses, and its dead letter too', () => {
  it('a message whose dead letter is refused for some time becomes one, and its stream keeps its order', async () => {
    await using db = await createTestDatabase();
    await db.pool.query(`
      create sequence refusals;
      create table today (takes_dead_letters boolean);
      create function refuse() returns trigger language plpgsql as $$ begin
        if new.event_data->>'step' = '2' then raise exception 'no such step'; end if;
        if new.event_type = '(unreadable)' and not exists (select from public.today) then
          perform nextval('public.refusals');
          raise exception 'no dead letters today';
        end if;
        return new;
      end $$;
      create trigger refuse before insert on wh_inbox for each row execute function refuse()`);
    const transport = inProcessTransport();
    const steps: number[] = [];
    const onPlaced = receptor(OrderPlaced, ({ step }) => void steps.push(step));
    await using shop = service(db, { receptors: [onPlaced], transport });
    await shop.start();

    for (const step of [1, 2, 3, 4, 5]) await shop.publish(OrderPlaced({ orderId: 'a', step }));
    await eventually(() => expect(steps).toEqual([1, 3, 4, 5]));
    await eventually(async () => {
      const { rows } = await db.pool.query('select last_value from refusals');
      expect(Number(rows[0].last_value)).toBeGreaterThan(4);
    });
    expect(transport.pending('shop')).toBe(1);
    await db.pool.query('insert into today values (true)');

    await eventually(async () => {
      const { rows } = await db.pool.query('select error from wh_dead_letters');
      expect(rows).toEqual([{ error: expect.stringContaining('no such step') }]);
    });
    await eventually(() => expect(transport.pending()).toBe(0));
    expect(steps).toEqual([1, 3, 4, 5]);
  });

  it('an instance stops in its time while PostgreSQL refuses a dead letter, and the message stays at the broker', async () => {
    await using db = await createTestDatabase();
    await db.pool.query(`
      create sequence refusals;
      create function refuse() returns trigger language plpgsql as $$ begin
        perform nextval('public.refusals');
        raise exception 'nothing today';
      end $$;
      create trigger refuse before insert on wh_inbox for each row execute function refuse()`);
    const transport = inProcessTransport();
    const shop = service(db, { receptors: [receptor(OrderPlaced, () => {})], transport });
    await shop.start();
    await shop.publish(OrderPlaced({ orderId: 'a' }));
    await eventually(async () => {
      const { rows } = await db.pool.query('select last_value from refusals');
      expect(Number(rows[0].last_value)).toBeGreaterThan(2);
    });

    const before = performance.now();
    await shop.stop({ seconds: 0.5 });

    expect(performance.now() - before).toBeLessThan(20_000);
    expect(transport.pending('shop')).toBe(1);
  });
});
