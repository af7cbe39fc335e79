// The kit with receptors that give up: they are run as in production, alone, and with accidents in the worst moment.
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineCommand, defineEvent, receptor } from '../../src/index.js';
import { runReceptor, startTestKit } from '../../src/testing/index.js';

const order = z.object({ orderId: z.string() });
const ChargeCard = defineCommand('ChargeCard', { schema: order, stream: ({ orderId }) => orderId });
const ChargeFailed = defineEvent('ChargeFailed', {
  schema: order.extend({ reason: z.string() }),
  stream: ({ orderId }) => orderId,
});

const charge = receptor(
  ChargeCard,
  {
    retry: { attempts: 2 },
    onGivenUp: ({ orderId }, { isLastAttempt }, { message: reason }) =>
      isLastAttempt ? ChargeFailed({ orderId, reason }) : undefined,
  },
  () => {
    throw new Error('no card');
  },
);

describe('The kit and onGivenUp', () => {
  it('onGivenUp is run alone by runReceptor, with an error', async () => {
    const run = await runReceptor(charge, ChargeCard({ orderId: 'a' }), { givenUp: new Error('no') });
    expect(run.sent(ChargeFailed).map(({ payload }) => payload)).toEqual([{ orderId: 'a', reason: 'no' }]);
  });

  it('a kit is quiet when a message was given up, and has what onGivenUp sent', async () => {
    await using kit = await startTestKit({ service: 'shop', receptors: [charge] });
    await kit.send(ChargeCard({ orderId: 'a' }));
    await kit.quiet();
    expect(kit.sent(ChargeFailed)).toHaveLength(1);
    expect(await kit.deadLetters()).toHaveLength(1);
  });

  it('an instance that is killed or stalls when onGivenUp has returned sends its messages once', async () => {
    await using kit = await startTestKit({ service: 'shop', receptors: [charge] });
    await kit.crashDuring(charge, () => kit.send(ChargeCard({ orderId: 'a' })), { seconds: 20 });
    await kit.quiet({ seconds: 20 });
    expect(kit.sent(ChargeFailed)).toHaveLength(1);
    await kit.stallDuring(charge, () => kit.send(ChargeCard({ orderId: 'b' })), { seconds: 20 });
    await kit.quiet({ seconds: 20 });
    expect(kit.sent(ChargeFailed)).toHaveLength(2);
    expect(await kit.deadLetters()).toHaveLength(2);
  });
});
