import { describe, expect, it } from 'vitest';
import { inProcessTransport, receptor, type WhizbangEvents } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { deadLetters } from './arrivals.js';
import { OrderPlaced, service } from './service.js';

describe('A listener that throws', () => {
  it.each<[keyof WhizbangEvents, string]>([
    ['idle', 'at once'],
    ['active', 'at once'],
    ['failure', 'at once'],
    ['deadLetter', 'at once'],
    ['failure', 'later'],
  ])('a listener that throws at %s, %s, is logged, and the work goes on', async (event, when) => {
    await using db = await createTestDatabase();
    const logged: { text: string; facts: object }[] = [];
    const log = (facts: object, text: string) => void logged.push({ text, facts });
    const onPlaced = receptor(OrderPlaced, { retry: { attempts: 2, firstDelaySeconds: 0.02 } }, () => {
      throw new Error('never');
    });
    await using shop = service(db, {
      receptors: [onPlaced],
      transport: inProcessTransport(),
      logger: { ...silentLogger, warn: log, error: log },
    });
    const fail = () => {
      throw new Error('of the listener');
    };
    // oxlint-disable-next-line typescript/no-misused-promises -- many listeners are asynchronous, and fail so
    shop.on(event, when === 'at once' ? fail : () => Promise.resolve().then(fail));
    await shop.start();
    await shop.publish(OrderPlaced({ orderId: 'a' }));
    await eventually(async () => expect(await deadLetters(db)).toMatchObject([{ attempts: 2 }]));
    await eventually(() =>
      expect(logged).toContainEqual({
        text: 'A listener threw an error',
        facts: expect.objectContaining({ event }),
      }),
    );
  });
});

describe('A listener to an event that there is not', () => {
  it('a listener to an unknown event is refused', async () => {
    await using db = await createTestDatabase();
    await using shop = service(db);
    expect(() => shop.on('deadletter' as never, () => {})).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', hint: expect.stringContaining('deadLetter') }),
    );
  });
});

describe('A receptor that throws', () => {
  it('a failed attempt is logged while nobody listens to failures, and not while somebody does', async () => {
    await using db = await createTestDatabase();
    const logged: [string, object][] = [];
    const log = (facts: object, text: string) => void logged.push([text, facts]);
    const onPlaced = receptor(OrderPlaced, { retry: { attempts: 3, firstDelaySeconds: 0.02 } }, () => {
      throw new Error('the printer is out of paper');
    });
    await using shop = service(db, {
      receptors: [onPlaced],
      transport: inProcessTransport(),
      logger: { ...silentLogger, warn: log, error: log },
    });
    let heard = 0;
    const listener = () => {
      heard++;
      shop.off('failure', listener);
    };
    shop.on('failure', listener);
    await shop.start();
    const messageId = await shop.publish(OrderPlaced({ orderId: 'a' }));
    await eventually(async () => expect(await deadLetters(db)).toHaveLength(1));
    expect(heard).toBe(1);
    // The stack comes with the last attempt: those before are expected, and are one line.
    const error = 'Error: the printer is out of paper';
    const stack = expect.stringContaining(`${error}\n    at `);
    expect(logged).toEqual([
      [
        'An attempt failed; the message will be tried again',
        expect.objectContaining({ messageId, attempt: 2, error }),
      ],
      [
        'A message was given up and is now a dead letter',
        expect.objectContaining({ messageId, attempt: 3, error: stack }),
      ],
    ]);
  });
});
