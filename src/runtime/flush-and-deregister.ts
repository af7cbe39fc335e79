import type { WorkCoordinator } from '../coordinator/index.js';
import { describeError } from '../describe-error.js';
import type { Logger } from '../logger.js';
import type { WorkCoordinatorStrategy } from '../strategies/index.js';

/** Ends an instance: stores what was sent, and frees what it held for other instances. */
export async function flushAndDeregister(parts: {
  readonly sending: WorkCoordinatorStrategy;
  readonly coordinator: WorkCoordinator;
  readonly logger: Logger;
}): Promise<void> {
  await parts.sending.dispose().catch((error: unknown) => {
    parts.logger.error(
      { error: describeError(error) },
      'The messages that were sent last could not be stored',
    );
  });
  await parts.coordinator.deregister().catch(() => 0);
}
