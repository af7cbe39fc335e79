// A started instance: both workers on one loop, the transport's connection, the LISTEN connection.
// In: the parts that the composition root has made. Out: something that runs until it is stopped.
// Called by Whizbang.start and Whizbang.stop. The order of stopping matters: stop receiving,
// finish or give back what runs, report it to the database, release the leases, close.
import { joinService, noRoom } from '../coordinator/index.js';
import { withPooledClient } from '../database/index.js';
import { describeError } from '../describe-error.js';
import { registerAll } from '../perspectives/index.js';
import { beforeDeadline } from '../time-limits.js';
import type { Receiver, TransportConnection } from '../transports/index.js';
import { assembleWork, type WorkParts } from './assemble-work.js';
import { flushAndDeregister } from './flush-and-deregister.js';
import type { WorkersOptions } from './workers-options.js';

/** Time limit to join a service: it waits only for other instances that join at this moment. */
const joinMs = 10_000;
/** Time for the receiver, and for what was aborted, to end by themselves when the time to stop is over. */
const abortedMs = 1_000;
/** Time after that for all that is left to report and to close, together. */
const finalFlushMs = 2_000;

export class Workers<Tx> {
  readonly #options: WorkersOptions<Tx>;
  readonly #connection: TransportConnection;
  readonly #parts: WorkParts<Tx>;
  #receiver: Receiver | undefined;
  #receivingAnswers: Promise<void> | undefined;

  constructor(options: WorkersOptions<Tx>, connection: TransportConnection) {
    this.#options = options;
    this.#connection = connection;
    this.#parts = assembleWork(options, connection);
  }

  /**
   * Starts to work. Fails when the database refuses the first call, so that a wrong set-up is seen at once.
   */
  async start(): Promise<void> {
    const { service, coordinator, pool, schema, reports, registry, gate, events, perspectives, logger } =
      this.#options;
    const { loop, consumer, listener } = this.#parts;
    // Registered before it subscribes: subscriptions of an instance that is not registered are deleted.
    await coordinator.processWorkBatch(noRoom);
    const { instanceId } = coordinator.instance;
    await withPooledClient(pool, (db) => joinService(db, schema, instanceId), joinMs);
    await registerAll({ registry: perspectives, pool, schema, instanceId, logger });
    // Before anything is handed out: what waits in the outbox for this very service would find no receiver.
    await this.#receive(registry.addresses(service));
    gate.open(loop, () => consumer.continuesAbove());
    await reports.flush();
    events.ready(true);
    loop.start();
    this.#parts.perspectives.start();
    await listener?.open();
    for (const each of this.#parts.clockwork) await each.start();
  }

  /** Receives what is sent to the service by its name, as answers are. With receptors it does so anyway. */
  receiveAnswers(): Promise<void> {
    this.#receivingAnswers ??= this.#receiveAnswers().catch((error: unknown) => {
      this.#receivingAnswers = undefined;
      throw error;
    });
    return this.#receivingAnswers;
  }

  async #receiveAnswers(): Promise<void> {
    const { registry, service } = this.#options;
    const addresses = registry.addresses(service);
    if (addresses.includes(service)) return;
    await this.#receiver?.stop();
    await this.#receive([...addresses, service]);
  }

  async #receive(addresses: readonly string[]): Promise<void> {
    if (addresses.length === 0) return;
    const subscription = { addresses, prefetch: this.#options.settings.receivePrefetch };
    const { intake } = this.#parts;
    this.#receiver = await this.#connection.receive(subscription, (delivery) => intake.take(delivery));
  }

  async stop(seconds: number): Promise<void> {
    const { coordinator, logger } = this.#options;
    const { publisher, consumer, intake, listener, perspectives, clockwork } = this.#parts;
    const deadline = performance.now() + seconds * 1000;
    // Every wait has a limit: a network that fails silently returns neither an answer nor an error.
    const before = (end: number, work: Promise<unknown> | undefined) =>
      beforeDeadline(
        (work ?? Promise.resolve()).catch(() => {}),
        end,
      );
    const orSoon = (ms: number) => Math.max(deadline, performance.now() + ms);
    const clockworkEnded = Promise.all(clockwork.map((each) => each.stop()));
    await before(orSoon(abortedMs), this.#receiver?.stop());
    publisher.stopTaking();
    consumer.stopTaking();
    perspectives.stopTaking();
    const finished = Promise.all([
      publisher.whenIdle(),
      consumer.whenIdle(),
      intake.whenIdle(),
      perspectives.whenIdle(),
    ]);
    const isFinished = await beforeDeadline(finished, deadline);
    if (!isFinished) {
      logger.warn({ seconds }, 'Some messages were not finished in time; they are given back');
      publisher.abandon();
      consumer.abandon();
      intake.abandon();
      await beforeDeadline(finished, performance.now() + abortedMs);
    }
    // One limit for all of it, counted from now at the earliest: a
    // receptor that computes may have blocked the event loop until now.
    const end = orSoon(finalFlushMs);
    // At most half of it, because a look of theirs may wait for a connection that nobody gives back.
    await before((performance.now() + end) / 2, clockworkEnded);
    await before(end, listener?.close());
    if (!(await before(end, this.#reportAndDeregister()))) {
      logger.warn(
        {},
        'PostgreSQL did not accept the last reports in time; the leases of these messages will end',
      );
    }
    await before(end, this.#connection.close());
    // A call that was still on its way when the instance deregistered may have registered it again.
    if (!isFinished) await before(end, coordinator.deregister());
  }

  async #reportAndDeregister(): Promise<void> {
    const { reports, sending, coordinator, logger } = this.#options;
    await this.#parts.loop.stop();
    await reports.dispose().catch((error: unknown) => {
      logger.warn(
        { error: describeError(error) },
        'The last reports failed; the leases of these messages will end',
      );
    });
    await flushAndDeregister({ sending, coordinator, logger });
  }
}
