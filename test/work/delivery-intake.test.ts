// Deliveries that PostgreSQL refuses, and their dead letters too, when the instance has no time left. Rule 6 of
// src/transports/transport.ts: whoever rejects stores nothing that it was handed after the rejected one.
import { describe, expect, it } from 'vitest';
import { WhizbangError } from '../../src/errors.js';
import { silentLogger } from '../../src/logger.js';
import type { NewInboxMessage } from '../../src/message.js';
import type { QueuedUnit, WorkUnit } from '../../src/strategies/index.js';
import type { Delivery } from '../../src/transports/index.js';
import { DeliveryIntake } from '../../src/work/publish/delivery-intake.js';
import { eventually } from '../support/eventually.js';
import { message } from '../transports/messages.js';

/** An intake whose calls refuse some messages, and leave all others waiting until they are withdrawn. */
function intakeThatRefuses(isRefused: (queued: NewInboxMessage) => boolean) {
  const log: string[] = [];
  const queue = ({ newInboxMessages = [] }: WorkUnit): QueuedUnit => {
    const [queued] = newInboxMessages as [NewInboxMessage];
    log.push(`queued ${queued.eventType}`);
    let withdraw = () => {};
    const carried = new Promise<never>((_, reject) => {
      if (isRefused(queued)) reject(new Error('no such step'));
      withdraw = () => {
        log.push(`withdrawn ${queued.eventType}`);
        reject(new WhizbangError('DISPOSED', { message: 'It stops.' }));
      };
    });
    carried.catch(() => {});
    return { carried, withdraw } as unknown as QueuedUnit;
  };
  const intake = new DeliveryIntake({ queue, hasReceptor: () => true, logger: silentLogger });
  const deliver = (type: string) => {
    const delivery: Delivery = {
      content: message('orders', { type }),
      acknowledge: async () => void log.push(`acknowledged ${type}`),
      reject: async () => void log.push(`rejected ${type}`),
    };
    intake.take(delivery);
  };
  return { intake, deliver, log };
}

describe('The intake of deliveries when the instance has no time left', () => {
  it('what was handed out after a refused message is withdrawn before that message is rejected', async () => {
    const isRefused = ({ eventType }: NewInboxMessage) => ['First', '(unreadable)'].includes(eventType);
    const { intake, deliver, log } = intakeThatRefuses(isRefused);
    deliver('First');
    deliver('Second');
    await eventually(() => expect(log).toContain('queued (unreadable)'));
    expect(log).not.toContain('rejected First');

    intake.abandon();
    await intake.whenIdle();

    expect(log.filter((line) => line.startsWith('acknowledged'))).toEqual([]);
    expect(log.indexOf('withdrawn Second')).toBeGreaterThan(-1);
    expect(log.indexOf('withdrawn Second')).toBeLessThan(log.indexOf('rejected First'));
    expect(log).toContain('rejected Second');
  });

  it('nothing is queued any more for a refused message after the time is up', async () => {
    const { intake, deliver, log } = intakeThatRefuses(() => true);
    deliver('First');
    await eventually(() => expect(log).toContain('queued (unreadable)'));

    intake.abandon();
    const queued = log.filter((line) => line.startsWith('queued')).length;
    await intake.whenIdle();

    expect(log.filter((line) => line.startsWith('queued'))).toHaveLength(queued);
    expect(log.at(-1)).toBe('rejected First');
  });
});
