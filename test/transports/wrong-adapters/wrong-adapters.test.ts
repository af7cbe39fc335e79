// The conformance suite itself on trial: it has to fail adapters that are wrong, by the case that is made for them.
import { describe, expect, it } from 'vitest';
import { inProcessTransport, type TransportTraits } from '../../../src/transports/index.js';
import { casesOf, runCase } from '../conformance/trial.js';
import { sections } from '../conformance.js';
import { inProcessLacks, inProcessSubject } from '../in-process-subject.js';
import {
  acknowledgesOnDelivery,
  cancelsBeforeTheLastAcknowledgement,
  readsTheNewFirst,
  returnsToTheBack,
  sendsBehindTheUnconfirmed,
} from './adapters.js';
import { movesAs } from './moving-units.js';
import { type Change, changed, receiveFrom } from './wrapping.js';

const cases = Object.values(sections).flatMap(casesOf);

/** The names of the cases that an adapter fails. All of them are tried at the same time, each over a hub of its own. */
async function failedBy(
  change: Change,
  patienceMs?: number,
  traits?: Partial<TransportTraits>,
): Promise<readonly string[]> {
  const results = await Promise.all(
    cases.map(async (each) => {
      const hub = inProcessTransport();
      const subject = async () => inProcessSubject(hub, changed(hub, change, traits));
      const run = runCase(each, subject, inProcessLacks, patienceMs);
      return run.then(
        () => [],
        () => [each.name],
      );
    }),
  );
  return results.flat();
}

/** Enough for what comes at all. */
const patienceMs = 2_000;

describe('The conformance suite of transports', () => {
  it('the conformance suite passes an adapter that is wrapped and not changed', async () => {
    expect(await failedBy(() => ({}))).toEqual([]);
    const sameDeliveries: Change = (inner, service) => ({
      receive: (...call) => receiveFrom(inner, service, call, ({ delivery }) => delivery),
    });
    expect(await failedBy(sameDeliveries)).toEqual([]);
  });

  it('the conformance suite passes an adapter in which a shard moves, or the whole service', async () => {
    expect(await failedBy(movesAs(4), undefined, { moves: 'shard' })).toEqual([]);
    expect(await failedBy(movesAs(1), undefined, { moves: 'service' })).toEqual([]);
  });

  it('the conformance suite catches an adapter that moves more than it says', async () => {
    expect(await failedBy(movesAs(1), patienceMs)).toEqual(
      expect.arrayContaining([
        'the instances of a service share the work',
        'an instance at its prefetch is sent no more, and another gets the rest',
      ]),
    );
  });

  it('the conformance suite catches an adapter that returns a message to the back of the queue', async () => {
    expect(await failedBy(returnsToTheBack, patienceMs)).toEqual(
      expect.arrayContaining([
        'a rejected message comes again before those that waited behind it in its stream',
        'a message that is rejected 50 times comes again each time, before what waits behind it',
      ]),
    );
  });

  it('the conformance suite catches an adapter that cancels before the last acknowledgement', async () => {
    expect(await failedBy(cancelsBeforeTheLastAcknowledgement, patienceMs)).toEqual(
      expect.arrayContaining([
        'the stream of an unacknowledged message waits for it after the receiver has stopped',
        'what waits behind the unacknowledged messages of a stopped receiver goes to no other before they are stored',
      ]),
    );
  });

  it('the conformance suite catches an adapter that sends on behind an unconfirmed message', async () => {
    expect(await failedBy(sendsBehindTheUnconfirmed, patienceMs)).toContain(
      'a message that the broker loses in a batch is sent again before the later ones of its stream',
    );
  });

  it('the conformance suite catches an adapter that reads new messages before those of its predecessor', async () => {
    expect(await failedBy(readsTheNewFirst, patienceMs)).toEqual(
      expect.arrayContaining([
        'messages that were not acknowledged come again before those that waited behind them',
        'an instance that crashes leaves its messages to the next, before those that waited behind them',
      ]),
    );
  });

  it('the conformance suite catches an adapter that acknowledges on delivery', async () => {
    expect(await failedBy(acknowledgesOnDelivery, patienceMs)).toEqual(
      expect.arrayContaining([
        'messages that were not acknowledged come again before those that waited behind them',
        'no more messages than the prefetch are unacknowledged at one time',
        'instances that crash under load lose nothing and break no order',
      ]),
    );
  });
});
