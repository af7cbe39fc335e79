// Several transports in one service, so that a team can move from one to another step by step.
// In: transports. Out: one that sends every message over each of them, and receives from each.
// A service that listens at two of them gets a message twice, and its inbox takes it once. The first is the one that was
// there before: what a later one brings waits until the earlier ones have nothing left, because they may still have an
// earlier message of the stream, sent when the later one was not in use.
import { WhizbangError } from '../../errors.js';
import type { Transport, TransportTraits } from '../transport.js';
import { CombinedConnection } from './combined-connection.js';

/**
 * Joins several transports, the one that was there before first: what is sent goes over each of them, and what arrives at
 * any of them is received. A command is sent when one of them has a receiver for it. Throws INVALID_OPTION.
 */
export function combine(first: Transport, ...others: readonly Transport[]): Transport {
  const given = [first, ...others];
  const wrong = given.findIndex((each) => typeof each?.connect !== 'function');
  if (wrong !== -1) {
    throw new WhizbangError('INVALID_OPTION', {
      message: `combine: argument ${wrong + 1} is not a transport.`,
      hint: 'Pass transports, such as combine(rabbitmqTransport({ … }), postgresTransport()).',
      details: { option: 'transports' },
    });
  }
  if (new Set(given).size < given.length) {
    throw new WhizbangError('INVALID_OPTION', {
      message: 'combine: the same transport is given twice.',
      hint: 'Name each transport once. Over one that is given twice, every message would be sent twice.',
      details: { option: 'transports' },
    });
  }
  const ofDatabase = given.filter(({ settles }) => settles);
  if (ofDatabase.length > 1) {
    throw new WhizbangError('INVALID_OPTION', {
      message: `combine: ${ofDatabase.length} of its transports are the PostgreSQL transport of the service's own database.`,
      hint: 'Name it once. It completes the outbox row by itself.',
      details: { option: 'transports' },
    });
  }
  // Last, because it completes the row in the outbox together with its own sending.
  const transports = [...given.filter((each) => !ofDatabase.includes(each)), ...ofDatabase];
  return {
    name: transports.map(({ name }) => name).join(' + '),
    traits: traitsOf(transports),
    ...(ofDatabase.length > 0 && { settles: true as const }),
    connect: (host) => CombinedConnection.open(transports, host),
  };
}

const moves = ['stream', 'shard', 'service'] as const;
const sent = ['unknown', 'memory', 'disk', 'replicated'] as const;

/** Promises of the weakest. */
function traitsOf(transports: readonly Transport[]): TransportTraits {
  const all = transports.map(({ traits }) => traits);
  const sizes = all.flatMap(({ maxMessageBytes }) => maxMessageBytes ?? []);
  return {
    moves: moves[Math.max(...all.map((each) => moves.indexOf(each.moves)))] as TransportTraits['moves'],
    sent: sent[Math.min(...all.map((each) => sent.indexOf(each.sent)))] as TransportTraits['sent'],
    knowsReceivers: all.every(({ knowsReceivers }) => knowsReceivers),
    ...(sizes.length > 0 && { maxMessageBytes: Math.min(...sizes) }),
  };
}
