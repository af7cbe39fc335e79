import type { ServiceBusClient } from '@azure/service-bus';
import { isAnswer } from './failures.js';
import { quietSessions } from './quiet-sessions.js';

/** So long a working connection may take to answer. */
const silenceMs = 10_000;
const probeMs = 5_000;
/** How long a close may take: over a connection that died silently no answer comes. */
const closeMs = 3_000;
const lookMs = 50;

/** What the client keeps of its connection, and does not show. Whatever is missing of it in another version is done without. */
interface WatchedClient {
  readonly _connectionContext?: {
    readonly connection?: WatchedConnection;
    /** Over which it shows its credentials. */
    readonly cbsSession?: { remove?(): void };
  };
}

interface WatchedConnection {
  isOpen(): boolean;
  readonly _connection?: {
    readonly socket?: { destroy?(): void; setNoDelay?(isOn: boolean): void };
    readonly heartbeat_in?: NodeJS.Timeout;
    readonly heartbeat_out?: NodeJS.Timeout;
    emit?(event: 'disconnected', context: { error: Error }): boolean;
  };
}

interface AskOptions {
  /** The client that will be used. Default: the current one. */
  readonly of?: ServiceBusClient;
  /** How long to wait for this answer while no other comes. Default: 10 seconds. */
  readonly patienceMs?: number;
  /** Whether the answer cannot come any more. Asked now and then. */
  readonly isLost?: () => boolean;
}

/**
 * A client that is replaced when it no longer answers. One that opens a connection, or has one that died silently, holds a
 * lock of its own for up to a minute, and all that is asked of it waits so long. What was asked of a replaced one fails.
 */
export class ReplaceableClient {
  readonly #make: () => ServiceBusClient;
  #current: ServiceBusClient;
  #answers = 0;
  #answeredAt = performance.now();

  constructor(make: () => ServiceBusClient) {
    this.#make = () => quietSessions(make());
    this.#current = this.#make();
  }

  get current(): ServiceBusClient {
    return this.#current;
  }

  get answeredAt(): number {
    return this.#answeredAt;
  }

  /** Something came from the broker. */
  noteAnswer(): void {
    this.#answers++;
    this.#answeredAt = performance.now();
  }

  /** Waits for an answer, or until the connection is lost over which it would come, or is silent for too long. */
  async ask<T>(
    work: (client: ServiceBusClient) => Promise<T>,
    { of: client = this.#current, patienceMs = silenceMs, isLost = () => false }: AskOptions = {},
  ): Promise<T> {
    if (client !== this.#current) throw new Error('The connection was replaced.');
    const isCut = cutOf(client);
    const isSilent = this.#silence(patienceMs);
    const asked = work(client).then(
      (answer) => {
        if (client === this.#current) this.noteAnswer();
        return answer;
      },
      (error: unknown) => {
        if (client === this.#current && isAnswer(error)) this.noteAnswer();
        throw error;
      },
    );
    return unless(asked, () => {
      if (client !== this.#current) return 'The connection was replaced before the answer.';
      if (isCut() || isLost()) return 'The connection was lost before the answer.';
      if (!isSilent()) return undefined;
      this.replace(client);
      return `No answer came for ${patienceMs / 1000} seconds.`;
    });
  }

  /** Asks whether the broker can be reached. When it cannot, the client is replaced. */
  async probe<T>(work: (client: ServiceBusClient) => Promise<T>): Promise<T> {
    const client = this.#current;
    try {
      return await this.ask(work, { patienceMs: probeMs });
    } catch (error) {
      if (!isAnswer(error)) this.replace(client);
      throw error;
    }
  }

  /** Replaces this client, unless that has been done. It is closed meanwhile. */
  replace(client: ServiceBusClient): void {
    if (client !== this.#current) return;
    this.#current = this.#make();
    void closeFully(client);
  }

  async close(): Promise<void> {
    await closeFully(this.#current);
  }

  /** Counts looks, not time: while this process stood still, the broker may have answered. */
  #silence(patienceMs: number): () => boolean {
    let [answers, looks] = [this.#answers, 0];
    return () => {
      if (answers !== this.#answers) [answers, looks] = [this.#answers, 0];
      return ++looks * lookMs > patienceMs;
    };
  }
}

const insideOf = (client: ServiceBusClient) => (client as unknown as WatchedClient)._connectionContext;

const connectionOf = (client: ServiceBusClient) => insideOf(client)?.connection;

/** Looks whether a connection that was open is not any more. */
function cutOf(client: ServiceBusClient): () => boolean {
  let seen: WatchedConnection | undefined;
  const isCut = () => {
    const connection = connectionOf(client);
    if (seen === undefined && connection?.isOpen()) {
      seen = connection;
      hasten(connection);
    }
    return seen !== undefined && (connection !== seen || !seen.isOpen());
  };
  isCut();
  return isCut;
}

const hastened = new WeakSet<WatchedConnection>();

/** The client leaves Nagle's algorithm on: an acknowledgement then often waits 40 ms for one of TCP. */
function hasten(connection: WatchedConnection): void {
  if (hastened.has(connection)) return;
  hastened.add(connection);
  connection._connection?.socket?.setNoDelay?.(true);
}

/** Waits for work, and looks now and then why it cannot come to an end. */
async function unless<T>(work: Promise<T>, reason: () => string | undefined): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const ended = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      const why = reason();
      if (why !== undefined) reject(new Error(why));
    }, lookMs);
  });
  try {
    return await Promise.race([work, ended]);
  } finally {
    clearInterval(timer);
  }
}

/**
 * A client whose connection does not answer leaves its socket open: that is closed without a goodbye. What then waits for
 * an answer or a heartbeat is not told, and would keep the process alive for two minutes. The link of its credentials is
 * forgotten: the client would ask the broker to close it, and a minute later the rejection, which nobody handles, would end
 * the process.
 */
async function closeFully(client: ServiceBusClient): Promise<void> {
  const { connection, cbsSession } = insideOf(client) ?? {};
  await within(closeMs, client.close());
  const { _connection: amqp } = connection ?? {};
  amqp?.socket?.destroy?.();
  cbsSession?.remove?.();
  clearTimeout(amqp?.heartbeat_in);
  clearTimeout(amqp?.heartbeat_out);
  amqp?.emit?.('disconnected', { error: new Error('The client was closed.') });
}

/** Waits for work, but not for ever. */
export async function within(milliseconds: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([work.catch(() => {}), limit]);
  clearTimeout(timer);
}
