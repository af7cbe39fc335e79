// Ask and answer: a command is sent, and whoever asked waits for what its receptor returns, in whichever service.
// In: commands; notifications that an answer has come. Out: the result, or a typed error.
// Called by the instance; the listener tells it of answers. What waits is a row of wh_requests, which the answer meets
// wherever it arrives: so it finds this process among all instances of the service, and nothing is left of it.
import { type AnswerContent, openRequest, takeAnswers } from '../coordinator/index.js';
import { type ConnectionPool, withPooledClient } from '../database/index.js';
import {
  type DispatcherOptions,
  type RequestOptions,
  resolveRequest,
  sendAsking,
} from '../dispatch/index.js';
import { WhizbangError } from '../errors.js';
import type { MessageId } from '../message.js';
import { newMessageId } from '../message-id.js';
import { type MessageToSend, validateResult } from '../messages/index.js';

interface RequestsOptions {
  readonly pool: ConnectionPool;
  /** The schema, quoted. */
  readonly schema: string;
  readonly sender: DispatcherOptions;
  /** Resolves when answers can arrive. Rejects when they cannot. */
  readonly receive: () => Promise<void>;
}

interface Waiting {
  readonly settle: (answer: AnswerContent | undefined) => void;
  readonly fail: (error: unknown) => void;
}

/** How often it looks for answers besides being notified of them: a notification may be lost with its connection. */
const lookEveryMs = 250;
const databaseMs = 10_000;

export class Requests {
  readonly #options: RequestsOptions;
  readonly #waiting = new Map<MessageId, Waiting>();
  #timer: NodeJS.Timeout | undefined;
  #stopped: WhizbangError | undefined;

  constructor(options: RequestsOptions) {
    this.#options = options;
  }

  /** Sends a command and resolves with the result of its receptor. */
  async ask<Result>(
    command: MessageToSend<'command', Result>,
    options: RequestOptions = {},
  ): Promise<Result> {
    const resolved = resolveRequest(options);
    const { timeoutSeconds } = resolved;
    const { schema, sender, receive } = this.#options;
    if (this.#stopped !== undefined) throw this.#stopped;
    await receive();
    const requestId = newMessageId();
    await this.#database((db) => openRequest(db, schema, requestId, sender.instanceId));
    const answered = this.#await(requestId, timeoutSeconds * 1000);
    try {
      await sendAsking(sender, command, requestId, resolved);
    } catch (error) {
      this.#waiting.get(requestId)?.fail(error);
    }
    const answer = await answered;
    const { type } = command.definition;
    if (answer === undefined) throw timedOut(type, requestId, timeoutSeconds);
    if (answer.error !== undefined) throw failed(type, requestId, answer.error);
    return (await validateResult(command.definition, answer.result)) as Result;
  }

  /** Takes the answer that has come, if this process waits for it. */
  hear(requestId: string): void {
    if (this.#waiting.has(requestId)) void this.#take([requestId]);
  }

  /** Fails everything that waits, because no answer will be seen any more. */
  stop(error: WhizbangError): void {
    this.#stopped = error;
    for (const { fail } of [...this.#waiting.values()]) fail(error);
  }

  /** Resolves with the answer; with undefined when the time is over, after a last look. */
  #await(requestId: MessageId, timeoutMs: number): Promise<AnswerContent | undefined> {
    let resolve: (answer: AnswerContent | undefined) => void = () => {};
    let reject: (error: unknown) => void = () => {};
    const promise = new Promise<AnswerContent | undefined>((...both) => {
      [resolve, reject] = both;
    });
    const end = () => {
      clearTimeout(timer);
      this.#waiting.delete(requestId);
      if (this.#waiting.size === 0) clearTimeout(this.#timer);
    };
    const settle = (answer: AnswerContent | undefined) => {
      end();
      resolve(answer);
    };
    const fail = (error: unknown) => {
      end();
      reject(error);
      this.#giveUp(requestId);
    };
    const timer = setTimeout(() => {
      void this.#take([requestId]).then(() => {
        if (!this.#waiting.has(requestId)) return;
        settle(undefined);
        this.#giveUp(requestId);
      });
    }, timeoutMs);
    promise.catch(() => {}); // whoever asked may have got another error before
    this.#waiting.set(requestId, { settle, fail });
    if (this.#waiting.size === 1) this.#lookLater();
    return promise;
  }

  #lookLater(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      void this.#take([...this.#waiting.keys()]).then(() => {
        if (this.#waiting.size > 0) this.#lookLater();
      });
    }, lookEveryMs);
    this.#timer.unref();
  }

  /** Never fails: while there is no database, there is no answer. */
  async #take(requestIds: readonly MessageId[]): Promise<void> {
    const { schema } = this.#options;
    const answers = await this.#database((db) => takeAnswers(db, schema, requestIds, false)).catch(() => []);
    for (const answer of answers) this.#waiting.get(answer.requestId)?.settle(answer);
  }

  /** Nobody waits for it any longer: a late answer is dropped where it arrives. If this fails, it goes with the instance. */
  #giveUp(requestId: MessageId): void {
    const { schema } = this.#options;
    this.#database((db) => takeAnswers(db, schema, [requestId], true)).catch(() => {});
  }

  #database<T>(work: Parameters<typeof withPooledClient<T>>[1]): Promise<T> {
    return withPooledClient(this.#options.pool, work, databaseMs);
  }
}

function timedOut(type: string, messageId: MessageId, timeoutSeconds: number): WhizbangError {
  return new WhizbangError('REQUEST_TIMEOUT', {
    message: `No answer to ${type} came within ${timeoutSeconds} seconds.`,
    details: { type, messageId, timeoutSeconds },
  });
}

function failed(
  type: string,
  messageId: MessageId,
  { name, message, code }: NonNullable<AnswerContent['error']>,
): WhizbangError {
  const reason = { name, message, ...(code !== undefined && { code }) };
  return new WhizbangError('REQUEST_FAILED', {
    message: `${type} was given up: ${message}`,
    details: { type, messageId, reason },
  });
}
