// Perspectives as an instance works on them: a bookmark that it was handed, batch after batch, until nothing is left.
// In: items of the loop. Out: models that are stored, and bookmarks that have moved, in one statement each.
// Called by the loop and the composition root. A bookmark is lost to another instance at any time: then its move
// stores nothing, and the work on it ends here.
import { setTimeout as pause } from 'node:timers/promises';
import type { BookmarkKey, NextBatch, TakenBookmark } from '../coordinator/index.js';
import { describeError } from '../describe-error.js';
import { WhizbangError } from '../errors.js';
import { auditMs } from '../events/index.js';
import type { Logger } from '../logger.js';
import type { WorkItem } from '../message.js';
import type { BatchRunner } from './batch-runner.js';
import type { PerspectiveRegistry } from './registry.js';

interface FollowingTelemetry {
  follow<T>(perspective: string, events: NextBatch['events'], run: () => Promise<T>): Promise<T>;
}

interface PerspectiveWorkerOptions<Tx> {
  readonly registry: PerspectiveRegistry<Tx>;
  readonly instanceId: string;
  /** How many bookmarks it works on at once. */
  readonly concurrency: number;
  readonly runner: BatchRunner<Tx>;
  /** Records that a batch runs. */
  readonly telemetry?: FollowingTelemetry | undefined;
  /** Called when a bookmark was released, or events were found: something may be due. */
  readonly onRoom: () => void;
  /** Looks for events that no tick has; most often it does nothing. */
  readonly audit: { sometimes(): Promise<boolean> };
  readonly logger: Logger;
}

const firstPauseMs = 50;
const longestPauseMs = 2_000;

export class PerspectiveWorker<Tx> {
  readonly #options: PerspectiveWorkerOptions<Tx>;
  readonly #running = new Set<Promise<void>>();
  #isStopping = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: PerspectiveWorkerOptions<Tx>) {
    this.#options = options;
  }

  /** Number of bookmarks that it could take now. */
  room(): number {
    return this.#isStopping ? 0 : Math.max(this.#options.concurrency - this.#running.size, 0);
  }

  get isBusy(): boolean {
    return this.#running.size > 0;
  }

  add(items: readonly WorkItem[]): void {
    // Handed out by a call that was under way when it stopped: the instance deregisters, which releases them.
    if (this.#isStopping) return;
    for (const { destination: name, partitionNumber: from, eventData } of items) {
      const { taken } = eventData as { readonly taken?: TakenBookmark | null };
      const running = this.#work({ instanceId: this.#options.instanceId, name, from }, taken)
        .catch((error: unknown) => this.#log(error, name))
        .finally(() => {
          this.#running.delete(running);
          this.#options.onRoom();
        });
      this.#running.add(running);
    }
  }

  /** Begins to audit the ticks. */
  start(): void {
    if (!this.#options.registry.isEmpty) this.#timer = setInterval(() => this.#audit(), auditMs).unref();
  }

  /** Takes nothing more, and releases what it has after the batch that runs. */
  stopTaking(): void {
    this.#isStopping = true;
    clearInterval(this.#timer);
  }

  async whenIdle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async #work(key: BookmarkKey, along: TakenBookmark | null | undefined): Promise<void> {
    const { registry, runner, telemetry } = this.#options;
    const perspective = registry.of(key.name);
    if (perspective === undefined) return; // handed out by mistake; its lease ends
    let pauseMs = firstPauseMs;
    let isFirst = true;
    let taken: TakenBookmark | null | undefined;
    for (;;) {
      try {
        taken ??= await runner.take(perspective, key, isFirst ? along : null);
        isFirst = false;
        const next = taken?.next;
        if (taken === null || next == null) return;
        const run = {
          key,
          taken: taken as TakenBookmark & { next: NextBatch },
          goesOn: () => !this.#isStopping,
        };
        const batch = () => runner.run(perspective, run);
        taken = await (telemetry?.follow(perspective.name, next.events, batch) ?? batch());
        pauseMs = firstPauseMs;
      } catch (error) {
        // The answer may be lost, or the database away: it is asked anew what there is to do.
        taken = undefined;
        if (isOfMissingTable(error)) {
          taken = await runner.take(perspective, key).catch(() => undefined);
          if (taken === null) return this.#logDropped(key.name);
        }
        // Once per outage: the tries go on for as long as it lasts.
        if (pauseMs === firstPauseMs) this.#log(error, key.name);
        // If the database is away, that fails too, and nobody could read it.
        await runner.noteFailure(key, describeError(error)).catch(() => {});
        if (this.#isStopping) return;
        await pause(pauseMs * (0.5 + Math.random() / 2));
        pauseMs = Math.min(pauseMs * 2, longestPauseMs);
      }
    }
  }

  #audit(): void {
    const { audit, onRoom, logger } = this.#options;
    audit.sometimes().then(
      (hasFound) => hasFound && onRoom(),
      (error: unknown) => logger.warn({ error: describeError(error) }, 'The ticks could not be audited'),
    );
  }

  #logDropped(perspective: string): void {
    this.#options.logger.info(
      { perspective },
      'Its build was dropped while a batch of it ran; nothing is left to do',
    );
  }

  #log(error: unknown, perspective: string): void {
    // Nothing was stored, or all of it: the bookmark says which.
    const isPassing = error instanceof WhizbangError && (error.retryable || error.code === 'CONNECTION_LOST');
    this.#options.logger[isPassing ? 'warn' : 'error'](
      { perspective, error: describeError(error) },
      'A batch of a perspective failed; it is run again until it succeeds',
    );
  }
}

/** The table of a build that was dropped under a batch; or of a schema that is older than the code. */
const isOfMissingTable = (error: unknown) => error instanceof WhizbangError && error.code === 'NOT_MIGRATED';
