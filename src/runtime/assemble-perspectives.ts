import { traceIdOf } from '../messages/index.js';
import { BatchRunner, PerspectiveWorker, switchOver } from '../perspectives/index.js';
import type { WorkersOptions } from './workers-options.js';

/** How many bookmarks of perspectives are worked on at once. */
const perspectivesAtOnce = 4;

/** Makes the worker that keeps the models of perspectives up to date. */
export function assemblePerspectives<Tx>(
  options: WorkersOptions<Tx>,
  loop: { readonly wake: () => void; readonly wakeIn: (seconds: number) => void },
): PerspectiveWorker<Tx> {
  const { logger, settings } = options;
  const access = { pool: options.pool, schema: options.schema, answerMs: settings.leaseSeconds * 1000 };
  return new PerspectiveWorker<Tx>({
    registry: options.perspectives,
    instanceId: options.coordinator.instance.instanceId,
    concurrency: perspectivesAtOnce,
    runner: new BatchRunner<Tx>({
      ...access,
      leaseSeconds: settings.leaseSeconds,
      transaction: options.transaction,
      switchOver: (name) =>
        switchOver({ ...access, logger, onLater: (seconds) => loop.wakeIn(seconds) }, name),
      origin: options.origin,
      keys: options.keys,
      onHeld: (perspective, failed) => {
        for (const { row, error, isBusy } of failed) {
          const { event_id: messageId, stream_id: streamId, version, event_type: type } = row;
          const traceId = traceIdOf(row.metadata);
          const of = { perspective, messageId, streamId, version, type, ...(traceId && { traceId }) };
          const facts = { ...of, error: error.message };
          if (isBusy) logger.debug(facts, 'A model is in use by an open transaction; its event comes later');
          else logger.error(facts, 'An event could not be applied; its stream is held');
        }
        loop.wakeIn(1);
      },
    }),
    telemetry: options.telemetry,
    onRoom: () => loop.wake(),
    audit: options.audit,
    logger,
  });
}
