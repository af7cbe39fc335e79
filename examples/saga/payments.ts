// The payments: they charge cards at a gateway, which sometimes does not answer.
import { createWhizbang, receptor } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import { CardCharged, ChargeCard, ChargeFailed } from './messages.js';

/** The gateway. A real one is given an idempotency key, such as the order's id: a charge may be tried twice. */
function charge(card: string, attempt: number): 'charged' | 'refused' {
  if (card === 'lame' && attempt < 3) throw new Error(`the gateway does not answer, attempt ${attempt}`);
  if (card === 'lost') throw new Error('the gateway does not know this bank');
  return card === 'empty' ? 'refused' : 'charged';
}

const onCharge = receptor(
  ChargeCard,
  {
    transaction: false, // the effect is elsewhere, and may take long: no transaction is held open for it
    timeoutSeconds: 10,
    retry: { attempts: 4, firstDelaySeconds: 0.1 },
    // The saga goes on in the transaction that writes the dead letter: either both happen or none.
    onGivenUp: ({ orderId }, _, error) => ChargeFailed({ orderId, reason: `given up, ${error.message}` }),
  },
  ({ orderId, card }, { attempt }) =>
    charge(card, attempt) === 'charged'
      ? CardCharged({ orderId })
      : ChargeFailed({ orderId, reason: 'the card was refused' }),
);

export function createPayments(connectionString: string) {
  return createWhizbang({
    service: 'payments',
    schema: 'payments',
    connectionString,
    receptors: [onCharge],
    logger: silentLogger, // the failures are part of the story
  });
}
