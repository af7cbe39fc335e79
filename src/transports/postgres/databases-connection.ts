// Sending to services in other databases and to those of the own one: docs/decisions/0039.
// In: outbox messages in order. Out: rows in the inboxes of all that listen, then the outbox rows completed.
// The own database comes last, because it completes the rows. What a crash leaves in between is sent again, and the
// inboxes take an id once. A message for a database that is away waits, with its stream; all others go on.
import { neighbours } from '../../coordinator/index.js';
import { withPooledClient } from '../../database/index.js';
import { WhizbangError } from '../../errors.js';
import { unlessAborted } from '../../time-limits.js';
import { wasSent, withHeldBack } from '../order/waves.js';
import type {
  Receiver,
  SendOutcome,
  Subscription,
  TransportConnection,
  TransportHost,
  TransportMessage,
} from '../transport.js';
import type { Cells } from './cells.js';
import type { DatabaseEntry } from './database-options.js';
import { type Delivered, OtherDatabase } from './other-database.js';
import { PostgresConnection } from './postgres-connection.js';
import { answerMs } from './transfer.js';

export class DatabasesConnection implements TransportConnection {
  readonly #own: PostgresConnection;
  readonly #others: readonly OtherDatabase[];
  readonly #cells: Cells;
  #sending: Promise<unknown> = Promise.resolve();

  private constructor(host: TransportHost, entries: readonly DatabaseEntry[], cells: Cells) {
    this.#own = new PostgresConnection(host);
    this.#others = entries.map((entry) => new OtherDatabase(entry, host.logger, () => this.#tell(host)));
    this.#cells = cells;
  }

  static async open(
    host: TransportHost,
    entries: readonly DatabaseEntry[],
    cells: Cells,
  ): Promise<DatabasesConnection> {
    const connection = new DatabasesConnection(host, entries, cells);
    try {
      await connection.#own.greet();
      await connection.#refuseNeighbours(host);
      const opened = await Promise.allSettled(connection.#others.map((other) => other.open()));
      const failed = opened.find((result) => result.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
      return connection;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  /**
   * A schema of the own database gets all that is sent to its addresses, so it cannot be one cell of several. A cell has
   * its database to itself: what it sends to another cell does not reach schemas beside it.
   */
  async #refuseNeighbours(host: TransportHost): Promise<void> {
    for (const service of this.#cells.services) {
      const found = await withPooledClient(host.pool, (db) => neighbours(db, host.schema, service), answerMs);
      const isOwn = service === host.instance.serviceName;
      const neighbour = found.find(({ listens }) => isOwn || listens);
      if (neighbour === undefined) continue;
      const { schema } = neighbour;
      throw new WhizbangError('INVALID_OPTION', {
        message: isOwn
          ? `postgresTransport: this is a cell of ${service}, and schema ${JSON.stringify(schema)} of its database is another service.`
          : `postgresTransport: ${service} is divided into cells, and schema ${JSON.stringify(schema)} of this database listens to its commands.`,
        hint: `Give each cell of ${service} a database of its own, with no other service in it.`,
        details: { option: `cells.${service}`, schema },
      });
    }
  }

  /** The transport counts as away only when no other database is there: one partner must not take its senders down. */
  #tell(host: TransportHost): void {
    const away = this.#others.filter(({ isAway }) => isAway);
    const sending = away.length < this.#others.length;
    host.onState({ sending, receiving: true, ...(away[0] !== undefined && { error: away[0].error }) });
  }

  async send(messages: readonly TransportMessage[], signal: AbortSignal): Promise<readonly SendOutcome[]> {
    this.#own.throwIfClosed();
    signal.throwIfAborted();
    const sending = this.#sendAll(messages, signal);
    this.#sending = sending.catch(() => {});
    return unlessAborted(signal, sending);
  }

  async #sendAll(
    messages: readonly TransportMessage[],
    signal: AbortSignal,
  ): Promise<readonly SendOutcome[]> {
    const outcomes = new Map<TransportMessage, SendOutcome>();
    const free = untilStopped(messages, (message) => {
      const waitsFor = this.#waitsFor(message);
      if (waitsFor !== undefined) outcomes.set(message, waitsFor.heldBack());
      return waitsFor === undefined;
    });
    const receivers = await this.#deliver(free);
    signal.throwIfAborted();
    const forOwn: TransportMessage[] = [];
    const heard = new Set<TransportMessage>();
    untilStopped(free, (message) => {
      const results = receivers.map((receiver) => receiver(message));
      const fault = results.find((result) => typeof result === 'object');
      const isHeard = results.includes('heard');
      if (isHeard) heard.add(message);
      if (fault !== undefined) outcomes.set(message, fault);
      else if (isHeard && isCommand(message)) outcomes.set(message, { kind: 'sent' });
      else if (this.#cells.isElsewhere(message))
        outcomes.set(message, isCommand(message) ? this.#unheard(message) : { kind: 'sent' });
      else forOwn.push(message);
      return wasSent(outcomes.get(message) ?? { kind: 'sent' });
    });
    const isHeard = (message: TransportMessage) => heard.has(message);
    const settled = forOwn.length === 0 ? [] : await this.#own.send(forOwn, signal, isHeard);
    for (const [i, message] of forOwn.entries()) {
      const outcome = settled[i] ?? { kind: 'held-back' };
      outcomes.set(message, hasNoReceiver(outcome) ? this.#unheard(message) : outcome);
    }
    return withHeldBack(messages, outcomes);
  }

  #waitsFor(message: TransportMessage): OtherDatabase | undefined {
    return this.#others.find(
      (other) => other.isAway && this.#cells.isFor(other.entry.name, message) && other.mayListen(message),
    );
  }

  /** Delivers to all that are there, at the same time. Returns for each what became of a message there. */
  async #deliver(
    messages: readonly TransportMessage[],
  ): Promise<readonly ((message: TransportMessage) => Delivered | SendOutcome)[]> {
    return Promise.all(
      this.#others
        .filter(({ isAway }) => !isAway)
        .map(async (other) => {
          const given = messages.filter((message) => this.#cells.isFor(other.entry.name, message));
          const delivered = given.length === 0 ? [] : await other.deliver(given);
          const results = new Map(given.map((message, i) => [message, delivered?.[i]]));
          return (message: TransportMessage) => {
            if (delivered !== undefined || !results.has(message) || !other.mayListen(message))
              return results.get(message) ?? 'unheard';
            return other.heldBack();
          };
        }),
    );
  }

  #unheard({ address }: TransportMessage): SendOutcome {
    const names = this.#others.map(({ entry }) => entry.name).join(', ');
    const error = new WhizbangError('NO_RECEIVER', {
      message: `No service listens to ${JSON.stringify(address)}, neither in this database nor in ${names}.`,
      hint: 'The message is kept and tried again. Check the name in `to`, that the receiving service was started once, and that its database is an entry of databases.',
      details: { address },
    });
    return { kind: 'failed', error };
  }

  receive(subscription: Subscription): Promise<Receiver> {
    return this.#own.receive(subscription);
  }

  ready(signal: AbortSignal): Promise<void> {
    return this.#own.ready(signal);
  }

  async close(): Promise<void> {
    await this.#own.close();
    await this.#sending;
    await Promise.all(this.#others.map((other) => other.close()));
  }
}

const isCommand = ({ metadata }: TransportMessage) =>
  (metadata as { kind?: unknown } | null)?.kind === 'command';

const hasNoReceiver = (outcome: SendOutcome) =>
  outcome.kind === 'failed' && outcome.error instanceof WhizbangError && outcome.error.code === 'NO_RECEIVER';

/** Returns the messages that pass, without those that follow one of their stream that does not. */
function untilStopped(
  messages: readonly TransportMessage[],
  passes: (message: TransportMessage) => boolean,
): readonly TransportMessage[] {
  const stopped = new Set<string>();
  return messages.filter((message) => {
    const { streamId } = message;
    if (streamId !== null && stopped.has(streamId)) return false;
    const isFree = passes(message);
    if (!isFree && streamId !== null) stopped.add(streamId);
    return isFree;
  });
}
