// A service under test: one running instance, a database of its own, and a record of what it sent.
import { AssertionError } from 'node:assert';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { AppendOptions, PublishOptions, SendOptions } from '../dispatch/index.js';
import { WhizbangError } from '../errors.js';
import type { AppendReceipt, KeyedPerspective, ModelPerspective, Perspective } from '../fold/index.js';
import type { MessageId } from '../message.js';
import type { MessageToSend } from '../messages/index.js';
import type { DeadLetter } from '../operate/index.js';
import type { InProcessTransport } from '../transports/index.js';
import type { Whizbang } from '../whizbang.js';
import { crash, stall } from './accidents.js';
import type { HeldRun, HoldingPoint, Target } from './holding-point.js';
import type { OwnedDatabase } from './kit-database.js';
import { KitPerspective, type Stage } from './kit-perspective.js';
import type { KitWorker } from './kit-worker.js';
import type { Failure } from './mishaps.js';
import { openWork } from './open-work.js';
import type { DeliverOptions, Outside } from './outside.js';
import { makeDue } from './passing-time.js';
import type { QuietCircle, QuietMember } from './quiet.js';
import { type SentById, SentMessages } from './sent-messages.js';

export type { DeliverOptions } from './outside.js';

/** Options of `kit.quiet`. */
export interface Patience {
  /** How long to wait before it fails. Default: 4. */
  readonly seconds?: number | undefined;
}

interface KitParts<Tx> {
  readonly service: string;
  readonly schema: string;
  readonly database: OwnedDatabase;
  readonly transport: InProcessTransport;
  readonly sender: Whizbang<Tx>;
  readonly types: ReadonlySet<string>;
  readonly sent: SentById;
  readonly failures: Failure[];
  readonly outside: Outside;
  readonly circle: QuietCircle;
  readonly holdingPoint: HoldingPoint<Tx>;
  readonly startWorker: () => Promise<KitWorker<Tx>>;
  /** The perspectives that its instance keeps: `orders@1`. */
  readonly codes: readonly string[];
  /** Makes a database of its own for one perspective. */
  readonly openStage: (perspective: ModelPerspective<unknown>) => Promise<Stage>;
}

/**
 * Ends before the usual limit of test runners, which is five seconds: the error of `quiet` is more helpful
 * than theirs.
 */
const patienceSeconds = 4;

/** A dead letter of the kit. `kit.whizbang.deadLetters` has all of it. */
type KitDeadLetter = Pick<DeadLetter, 'source' | 'messageId' | 'type' | 'payload' | 'attempts' | 'error'>;

/** A service under test, on a database of its own: made by `startTestKit`. */
// biome-ignore lint/suspicious/noExplicitAny: `let kit: TestKit` stands for a kit with any transaction
export class TestKit<Tx = any> extends SentMessages implements AsyncDisposable {
  /** A pool on the kit's own database: for your tables, and for reading what receptors wrote. */
  readonly pool: pg.Pool;
  readonly connectionString: string;
  /**
   * A service for code under test that sends. It takes no work itself, so it survives the accidents below.
   */
  readonly whizbang: Whizbang<Tx>;
  /**
   * The transport of the kit. Pass it to another kit to connect the two services. `goAway` and `comeBack`
   * make an outage.
   */
  readonly transport: InProcessTransport;
  /** Every attempt that failed, in order. */
  readonly failures: readonly Failure[];
  readonly #parts: KitParts<Tx>;
  readonly #member: QuietMember;
  #worker: KitWorker<Tx>;
  #disposed: Promise<void> | undefined;

  constructor(parts: KitParts<Tx>, worker: KitWorker<Tx>) {
    const { database, schema, sender, transport, failures, circle, types, service } = parts;
    super(parts.sent);
    this.pool = database.pool;
    this.connectionString = database.connectionString;
    this.whizbang = sender;
    this.transport = transport;
    this.failures = failures;
    this.#parts = parts;
    this.#worker = worker;
    this.#member = {
      service,
      open: () => openWork(database.pool, schema, parts.codes),
      isHandled: (type) => types.has(type),
      retryNow: () => makeDue(database.pool, schema, 'failed'),
    };
    circle.members.add(this.#member);
  }

  /** Sends a command as the service under test would. Resolves with its id when it is stored. */
  send(command: MessageToSend<'command'>, options?: SendOptions): Promise<MessageId> {
    return this.whizbang.send(command, options);
  }

  /** Publishes an event as the service under test would. Resolves with its id when it is stored. */
  publish(event: MessageToSend<'event'>, options?: PublishOptions): Promise<MessageId> {
    return this.whizbang.publish(event, options);
  }

  /** Appends an event to the store, as the service under test would. Perspectives read it, and nobody is sent it. */
  append(
    events: MessageToSend<'event'> | readonly MessageToSend<'event'>[],
    options?: AppendOptions,
  ): Promise<AppendReceipt> {
    return this.whizbang.events.append(events, options);
  }

  /** Begins a test of what a perspective survives: `await kit.perspective(orders).survives([OrderPlaced({ … })])`. */
  perspective<Model>(
    perspective: Perspective<Model, never> | Perspective<Model> | KeyedPerspective<Model>,
  ): KitPerspective {
    return new KitPerspective(perspective as ModelPerspective<unknown>, this.#parts.openStage);
  }

  /**
   * Delivers a message from another service. Resolves with its id when the transport has it: await `quiet`
   * next.
   */
  async deliver(message: MessageToSend, options: DeliverOptions = {}): Promise<MessageId> {
    const { type } = message.definition;
    if (this.#parts.types.has(type)) return this.#parts.outside.deliver(message, options);
    throw new WhizbangError('NO_RECEPTOR', {
      message: `${this.#parts.service} has no receptor for ${type}, so the message would never be delivered to it.`,
      hint: 'Give the kit a receptor for this type.',
      details: { type },
    });
  }

  /** Delivers the same message once more, as after a lost acknowledgement. */
  redeliver(messageId: MessageId): Promise<void> {
    return this.#parts.outside.redeliver(messageId);
  }

  /**
   * Waits until nothing is left to do, here and in the kits that share the transport, and all perspectives have
   * applied all events. Failed messages and held streams are retried at once, without their delay. Messages sent with a delay are not waited for. On timeout it fails
   * with a list of what is left, and why.
   */
  quiet({ seconds = patienceSeconds }: Patience = {}): Promise<void> {
    return this.#parts.circle.untilQuiet(seconds);
  }

  /** Waits for quiet, then makes the messages that were sent with a delay due at once. */
  async makeDelayedDue(): Promise<void> {
    await this.quiet();
    await makeDue(this.pool, this.#parts.schema, 'delayed');
  }

  /** The dead letters, in order. */
  async deadLetters(): Promise<readonly KitDeadLetter[]> {
    const letters = await this.whizbang.deadLetters.list({ limit: 1_000 });
    return letters.toReversed().map(({ source, messageId, type, payload, attempts, error }) => ({
      source,
      messageId,
      type,
      payload,
      attempts,
      error,
    }));
  }

  /**
   * Kills the instance at the worst moment: a receptor of this message has returned, and nothing of it is
   * committed or reported. `work` causes the message. Resolves with the id of the message when another
   * instance has begun to take over.
   */
  async crashDuring(
    target: Target<Tx>,
    work: () => Promise<unknown>,
    { seconds = patienceSeconds }: Patience = {},
  ): Promise<MessageId> {
    const run = await this.#hold(target, work, seconds);
    this.#worker = await crash(this.#scene, this.#worker, run);
    return run.messageId;
  }

  /**
   * Freezes the instance at the same moment, until its lease has expired and another one has handled the
   * message. Then the frozen instance continues without knowing it. Resolves with the id of the message when
   * that instance has found that it was too late.
   */
  async stallDuring(
    target: Target<Tx>,
    work: () => Promise<unknown>,
    { seconds = patienceSeconds }: Patience = {},
  ): Promise<MessageId> {
    const run = await this.#hold(target, work, seconds);
    const { heir, wasHandled } = await stall(this.#scene, this.#worker, run, seconds);
    this.#worker = heir;
    if (wasHandled) return run.messageId;
    const message = `No other instance has handled message ${run.messageId} within ${seconds} s.`;
    throw new AssertionError({ message, operator: 'stallDuring' });
  }

  /** Stops the service and drops its database. */
  dispose(): Promise<void> {
    this.#disposed ??= this.#dispose();
    return this.#disposed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  get #scene() {
    const { schema, startWorker } = this.#parts;
    return { pool: this.pool, schema, startWorker };
  }

  async #hold(target: Target<Tx>, work: () => Promise<unknown>, seconds: number): Promise<HeldRun> {
    const { held, disarm } = this.#parts.holdingPoint.arm(target);
    const timeUp = new AbortController();
    try {
      await work();
      const late = pause(seconds * 1000, undefined, { signal: timeUp.signal }).catch(() => undefined);
      const run = await Promise.race([held, late]);
      if (run !== undefined) return run;
      const name = 'type' in target ? target.type : target.name;
      const message = `No receptor of ${name} has returned within ${seconds} s.`;
      throw new AssertionError({ message, operator: 'crashDuring or stallDuring' });
    } finally {
      timeUp.abort();
      disarm();
    }
  }

  async #dispose(): Promise<void> {
    const { circle, outside, database } = this.#parts;
    circle.members.delete(this.#member);
    await this.#worker.stop();
    await this.whizbang.stop();
    await outside.close();
    await database.drop();
  }
}
