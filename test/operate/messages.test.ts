// Where a message is: its state, by its id; and a message that is tried again now.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { FinalError, receptor, streamIdOf } from '../../src/index.js';
import { OrderPlaced, PlaceOrder, service } from '../runtime/service.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';

const slowly = { firstDelaySeconds: 600, maxDelaySeconds: 600, jitter: 0 };

describe.concurrent('messages.get', () => {
  it('messages.get tells an unknown id', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const messageId = randomUUID();
    expect(await shop.messages.get(messageId)).toEqual({ messageId, state: 'unknown' });
    await expect(shop.messages.get('one')).rejects.toMatchObject({ code: 'INVALID_OPTION' });
  });

  it('messages.get tells what waits to be sent, and what is scheduled', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    const waiting = await shop.publish(OrderPlaced({ orderId: 'a' }), { scope: { tenant: 't' } });
    const scheduledFor = new Date(Date.now() + 3_600_000);
    const scheduled = randomUUID();
    await db.pool.query(
      `insert into wh_outbox (message_id, destination, event_type, event_data, scheduled_for) values ($1, 'x', 'X', '1', $2)`,
      [scheduled, scheduledFor],
    );
    expect(await shop.messages.get(waiting)).toMatchObject({
      state: 'waiting',
      source: 'outbox',
      type: 'OrderPlaced',
      payload: { orderId: 'a' },
      scope: { tenant: 't' },
      streamId: streamIdOf('a'),
      attempts: 0,
    });
    const found = await shop.messages.get(scheduled);
    expect(found).toMatchObject({ state: 'scheduled', dueAt: scheduledFor });
    expect(found.storedAt).toBeInstanceOf(Date);
  });

  it('messages.get tells what runs, what waits behind it, and what is finished', async () => {
    await using db = await createTestDatabase();
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    await using shop = service(db, { receptors: [receptor(PlaceOrder, () => ended)] });
    await shop.start();
    const [first, second] = await shop.send([
      PlaceOrder({ orderId: 'a' }),
      PlaceOrder({ orderId: 'a', step: 1 }),
    ]);
    const heldBy = shop.coordinator.instance.instanceId;
    await eventually(async () => {
      expect(await shop.messages.get(first as string)).toMatchObject({ state: 'running', heldBy });
    });
    expect(await shop.messages.get(second as string)).toMatchObject({ behind: first });
    end();
    await eventually(async () => {
      expect(await shop.messages.get(first as string)).toMatchObject({ state: 'finished', source: 'inbox' });
    });
  });

  it('messages.get tells a message that is retried, what is blocked by it, and what nobody handles', async () => {
    await using db = await createTestDatabase();
    const failing = receptor(PlaceOrder, { retry: slowly }, () => {
      throw new Error('no paper');
    });
    await using shop = service(db, { receptors: [failing] });
    await shop.start();
    const [first, second] = await shop.send([
      PlaceOrder({ orderId: 'a' }),
      PlaceOrder({ orderId: 'a', step: 1 }),
    ]);
    await eventually(async () => {
      const found = await shop.messages.get(first as string);
      expect(found).toMatchObject({ state: 'retrying', attempts: 1, failures: [{ attempt: 1 }] });
      expect(found.error).toMatch(/^Error: no paper/);
      expect(found.dueAt?.getTime()).toBeGreaterThan(Date.now() + 500_000);
    });
    expect(await shop.messages.get(second as string)).toMatchObject({ state: 'blocked', behind: first });
    const nobodys = randomUUID();
    await db.pool.query(
      `insert into wh_inbox (message_id, handler_name, event_type, event_data) values ($1, 'Other', 'Other', '1')`,
      [nobodys],
    );
    await eventually(async () =>
      expect(await shop.messages.get(nobodys)).toMatchObject({ state: 'unhandled', type: 'Other' }),
    );
  });

  it('messages.get tells a message that is being given up, and then a dead letter', async () => {
    await using db = await createTestDatabase();
    let isBroken = true;
    const failing = receptor(
      PlaceOrder,
      {
        retry: slowly,
        onGivenUp: () => {
          if (isBroken) throw new Error('cannot tell');
        },
      },
      () => {
        throw new FinalError('never');
      },
    );
    await using shop = service(db, { receptors: [failing] });
    await shop.start();
    const id = await shop.send(PlaceOrder({ orderId: 'a' }));
    await eventually(async () => {
      const found = await shop.messages.get(id);
      expect(found).toMatchObject({ state: 'givingUp', dueAt: expect.any(Date) });
    });
    isBroken = false;
    expect(await shop.retryNow(id)).toBe(true);
    await eventually(async () => expect((await shop.messages.get(id)).state).toBe('dead'));
    expect(await shop.messages.get(id)).toMatchObject({
      error: expect.stringContaining('never'),
      attempts: 1,
    });
  });
});

describe.concurrent('A message with a delay', () => {
  it('a message with a delay is scheduled, and retryNow sends it at once', async () => {
    await using db = await createTestDatabase();
    const handled: string[] = [];
    const handles = receptor(PlaceOrder, ({ orderId }) => void handled.push(orderId));
    await using shop = service(db, { receptors: [handles] });
    await shop.start();
    const at = new Date(Date.now() + 3_600_000);
    const id = await shop.send(PlaceOrder({ orderId: 'a' }), { at });
    expect(await shop.messages.get(id)).toMatchObject({
      state: 'scheduled',
      type: 'PlaceOrder',
      dueAt: at,
      attempts: 0,
    });
    expect(await shop.retryNow(id)).toBe(true);
    await eventually(() => expect(handled).toEqual(['a']));
    expect(await shop.retryNow(id)).toBe(false);
  });
});

describe.concurrent('retryNow', () => {
  it('retryNow runs a message at once that waits for its next attempt, and what is behind it follows', async () => {
    await using db = await createTestDatabase();
    const runs: string[] = [];
    const failing = receptor(PlaceOrder, { retry: slowly }, ({ step }, { attempt }) => {
      runs.push(`${step} ${attempt}`);
      if (step === 0 && attempt === 1) throw new Error('no');
    });
    await using shop = service(db, { receptors: [failing], pollIntervalMs: 60_000 });
    await shop.start();
    const [first, second] = await shop.send([
      PlaceOrder({ orderId: 'a' }),
      PlaceOrder({ orderId: 'a', step: 1 }),
    ]);
    await eventually(async () =>
      expect(await shop.messages.get(second as string)).toMatchObject({ state: 'blocked' }),
    );
    expect(await shop.retryNow(second as string)).toBe(false);
    expect(await shop.retryNow(first as string)).toBe(true);
    await eventually(async () => expect(runs).toEqual(['0 1', '0 2', '1 1']));
    await eventually(async () => expect((await shop.messages.get(first as string)).state).toBe('finished'));
    expect(await shop.retryNow(first as string)).toBe(false);
    expect(await shop.retryNow(randomUUID())).toBe(false);
  });

  it('retryNow sends a message at once that a transport has refused', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db, { retry: slowly, pollIntervalMs: 60_000 });
    await shop.start();
    const id = await shop.send(PlaceOrder({ orderId: 'a' }), { to: 'nobody' });
    const failed = (attempts: number) =>
      eventually(async () =>
        expect(await shop.messages.get(id)).toMatchObject({ state: 'retrying', source: 'outbox', attempts }),
      );
    await failed(1);
    expect(await shop.retryNow(id)).toBe(true);
    await failed(2);
  });
});
