import { WhizbangError } from '../../errors.js';
import type { Logger } from '../../logger.js';

interface ServerProperties {
  readonly product?: unknown;
  readonly version?: unknown;
}

const oldest = [3, 10, 0] as const;
/** rabbitmq-server#17317: after a consumer time-out, a queue with a single active consumer may stand still for ever. */
const wedging = { from: [4, 3, 0], through: [4, 3, 5] } as const;

/** Refuses a broker on which order or messages would be lost, and warns of one that has a known fault. */
export function checkServer({ product, version }: ServerProperties, place: string, logger: Logger): void {
  const parts = /^(\d+)\.(\d+)\.(\d+)/.exec(String(version))?.slice(1).map(Number);
  const found = `${String(product)} ${String(version)}`;
  if (product !== 'RabbitMQ' || (parts !== undefined && isBefore(parts, oldest))) {
    throw new WhizbangError('INVALID_OPTION', {
      message: `The broker at ${place} is ${found}. The transport needs RabbitMQ ${oldest.join('.')} or later.`,
      hint: 'Upgrade the broker (rabbitmqctl version tells its version), or give the URL of another: before 3.10, quorum queues put what comes back behind newer messages.',
      details: { option: 'url', product, version },
    });
  }
  if (parts === undefined || isBefore(parts, wedging.from) || isBefore(wedging.through, parts)) return;
  logger.warn(
    { version, hint: 'Upgrade it to 4.3.6 or later.' },
    'This RabbitMQ may stop delivering for ever after a consumer time-out (rabbitmq-server#17317)',
  );
}

function isBefore(a: readonly number[], b: readonly number[]): boolean {
  const i = a.findIndex((part, place) => part !== b[place]);
  return i >= 0 && (a[i] as number) < (b[i] as number);
}
