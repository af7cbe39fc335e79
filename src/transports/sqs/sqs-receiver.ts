import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Message } from '@aws-sdk/client-sqs';
import { WhizbangError } from '../../errors.js';
import type { Delivery, Receiver, Subscription } from '../transport.js';
import type { Aws } from './aws.js';
import { saysMissing } from './aws-errors.js';
import { type OpenQueue, resourceOf } from './queue.js';
import type { SqsSettings } from './sqs-options.js';
import { Unacknowledged } from './unacknowledged.js';
import { addressAttribute, fromWire } from './wire.js';

interface Source {
  readonly aws: Aws;
  readonly settings: SqsSettings;
  readonly service: string;
  readonly subscription: Subscription;
  readonly deliver: (delivery: Delivery) => void;
  /** Makes or checks the queue and its subscription. */
  readonly open: () => Promise<OpenQueue>;
  /** Told whether messages can arrive, and why not. */
  readonly tell: (error?: unknown) => void;
}

const mostPerRequest = 10;
/** Requests at one time, while each comes back full. */
const mostPolls = 8;
const firstPauseMs = 100;
const longestPauseMs = 5_000;
/** How long an answer may take beyond the time that the request waits for messages. */
const answerSeconds = 10;

/** Receives the messages of a service by long polling, up to the prefetch. */
export class SqsReceiver implements Receiver {
  readonly #source: Source;
  readonly #held: Unacknowledged;
  readonly #stopped = new AbortController();
  readonly #polls = new Set<Promise<void>>();
  #queue: OpenQueue | undefined;
  /** What requests under way may still bring. */
  #asked = 0;
  /** Requests that wait for room. */
  readonly #waiting: (() => void)[] = [];

  constructor(source: Source) {
    this.#source = source;
    this.#held = new Unacknowledged(
      source.aws,
      () => this.#queue as OpenQueue,
      source.settings.visibilitySeconds,
      () => this.#wake(),
    );
  }

  /** Begins. Resolves also while AWS cannot be reached; rejects when trying again cannot help. */
  async start(): Promise<void> {
    try {
      this.#queue = await this.#source.open();
      this.#source.tell();
    } catch (error) {
      if (!isUnavailable(error)) {
        await this.#held.close();
        throw error;
      }
      this.#source.tell(error);
    }
    this.#poll();
  }

  /** A request that waits at SQS may still bring messages. They are given back at once. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#wake();
  }

  async close(): Promise<void> {
    await this.stop();
    await this.#held.close();
    await Promise.all(this.#polls);
    await this.#held.close();
  }

  #poll(): void {
    const polling = this.#run(this.#polls.size === 0).finally(() => this.#polls.delete(polling));
    this.#polls.add(polling);
  }

  async #run(isFirst: boolean): Promise<void> {
    let pauseMs = firstPauseMs;
    while (!this.#stopped.signal.aborted) {
      const room = await this.#takeRoom();
      try {
        if (room === 0) return;
        this.#queue ??= await this.#source.open();
        const messages = await this.#receive(this.#queue, room);
        pauseMs = firstPauseMs;
        this.#source.tell();
        await this.#handOut(messages);
        const isFull = messages.length === room;
        if (!isFirst && !isFull) return;
        if (isFull && this.#polls.size < mostPolls) this.#poll();
      } catch (error) {
        if (saysMissing(error)) this.#queue = undefined;
        this.#source.tell(error);
        if (!isFirst) return;
        await pause(pauseMs, undefined, { signal: this.#stopped.signal }).catch(() => {});
        pauseMs = Math.min(pauseMs * 2, longestPauseMs);
      } finally {
        this.#asked -= room;
        this.#wake();
      }
    }
  }

  /** Has all look again whether there is room. */
  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Waits for room below the prefetch and takes some of it. Zero: stopped. */
  async #takeRoom(): Promise<number> {
    const { signal } = this.#stopped;
    for (;;) {
      if (signal.aborted) return 0;
      const room = Math.min(
        mostPerRequest,
        this.#source.subscription.prefetch - this.#held.size - this.#asked,
      );
      if (room > 0) {
        this.#asked += room;
        return room;
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  async #receive({ name, url }: OpenQueue, count: number): Promise<readonly Message[]> {
    const { aws, settings } = this.#source;
    const { waitSeconds, visibilitySeconds } = settings;
    const seconds = waitSeconds + answerSeconds;
    const request = { action: 'sqs:ReceiveMessage', resource: resourceOf(name), seconds };
    const { Messages = [] } = await aws.request(request, (options) =>
      aws.sqs.receiveMessage(
        {
          QueueUrl: url,
          MaxNumberOfMessages: count,
          WaitTimeSeconds: waitSeconds,
          VisibilityTimeout: visibilitySeconds,
          MessageSystemAttributeNames: ['MessageGroupId'],
          MessageAttributeNames: [addressAttribute],
          // A request that the SDK makes again, because its answer was lost, is answered with the same messages.
          ReceiveRequestAttemptId: randomUUID(),
        },
        options,
      ),
    );
    return Messages;
  }

  async #handOut(messages: readonly Message[]): Promise<void> {
    const held = messages.map(({ Attributes, ReceiptHandle, MessageId }) =>
      this.#held.add(Attributes?.MessageGroupId ?? (MessageId as string), ReceiptHandle as string),
    );
    if (this.#stopped.signal.aborted) return this.#held.giveBack(held);
    for (const [i, { Body = '', MessageAttributes }] of messages.entries()) {
      const each = held[i] as (typeof held)[number];
      const address = MessageAttributes?.[addressAttribute]?.StringValue ?? this.#source.service;
      this.#source.deliver({
        content: fromWire(Body, address),
        acknowledge: () => this.#held.acknowledge(each),
        reject: () => this.#held.reject(each),
      });
    }
  }
}

const isUnavailable = (error: unknown) =>
  error instanceof WhizbangError && error.code === 'TRANSPORT_UNAVAILABLE';
