// The five ways in which adapters are wrong that were written from the tutorials of brokers.
import type { Receiver, SendOutcome } from '../../../src/transports/index.js';
import { type Change, receiveFrom, type Taken } from './wrapping.js';

/** Returns a message by `nack`: a broker that has others waiting puts it behind them. */
export const returnsToTheBack: Change = (inner, service) => ({
  receive: (...call) =>
    receiveFrom(inner, service, call, ({ delivery, acknowledge, toTheBack }) => {
      let isDone = false;
      const once = async (work: () => Promise<void>) => {
        if (isDone) return;
        isDone = true;
        await work();
      };
      return { ...delivery, acknowledge: () => once(acknowledge), reject: () => once(toTheBack) };
    }),
});

/** Cancels its consumer with unacknowledged messages: those behind them go to the next consumer at once. */
export const cancelsBeforeTheLastAcknowledgement: Change = (inner, service) => {
  const open = new Set<Taken>();
  return {
    receive: async (...call) => {
      const receiver: Receiver = await receiveFrom(inner, service, call, (taken) => {
        open.add(taken);
        const end = async (work: () => Promise<void>) => {
          open.delete(taken);
          await work();
        };
        const { delivery, acknowledge, reject } = taken;
        return { ...delivery, acknowledge: () => end(acknowledge), reject: () => end(reject) };
      });
      return {
        stop: async () => {
          await receiver.stop();
          // The hub holds back a stream for an unacknowledged message. A cancelled consumer holds back nothing.
          for (const { acknowledge } of open) await acknowledge();
        },
      };
    },
  };
};

/** Has many messages of a stream on their way at once, to a broker that can lose one of them. */
export const sendsBehindTheUnconfirmed: Change = (inner) => ({
  send: async (messages, signal) => {
    const failed = new Set<string | null>();
    const outcomes: SendOutcome[] = [];
    const lost: unknown[] = [];
    for (const message of messages) {
      if (message.streamId !== null && failed.has(message.streamId)) outcomes.push({ kind: 'held-back' });
      else {
        const sent = await inner.send([message], signal).catch((error: unknown) => void lost.push(error));
        outcomes.push(...(sent ?? []));
        if (sent?.[0]?.kind === 'failed') failed.add(message.streamId);
      }
    }
    if (lost.length > 0) throw lost[0];
    return outcomes;
  },
});

/** Takes over from an instance that is gone by reading on, and gets what that one had last. */
export const readsTheNewFirst: Change = (inner, service) => {
  const open = new Set<Taken>();
  return {
    receive: (...call) =>
      receiveFrom(inner, service, call, (taken) => {
        open.add(taken);
        const end = async (work: () => Promise<void>) => {
          open.delete(taken);
          await work();
        };
        const { delivery, acknowledge, reject } = taken;
        return { ...delivery, acknowledge: () => end(acknowledge), reject: () => end(reject) };
      }),
    close: async () => {
      for (const taken of open) await taken.toTheBack();
      open.clear();
      await inner.close();
    },
  };
};

/** Acknowledges what it is delivered before it is stored. */
export const acknowledgesOnDelivery: Change = (inner, service) => ({
  receive: (...call) =>
    receiveFrom(inner, service, call, ({ delivery, acknowledge }) => {
      void acknowledge();
      return { ...delivery, acknowledge: async () => {}, reject: async () => {} };
    }),
});
