// Every metric: its name, kind, unit and attributes. docs/operate/monitoring.md lists the same, which a test compares.
// No attribute has an id, or anything else of which there is no end.
import { names } from './attributes.js';

type Kind = 'counter' | 'histogram' | 'gauge';

interface MetricFacts {
  readonly name: string;
  readonly kind: Kind;
  readonly unit: string;
  readonly description: string;
  readonly attributes: readonly string[];
}

const messaging = [names.system, names.operation, names.destination, names.service];

export const metricTable = {
  sent: {
    name: 'messaging.client.sent.messages',
    kind: 'counter',
    unit: '{message}',
    description: 'Messages that were given to the transport.',
    attributes: [...messaging, names.errorType],
  },
  consumed: {
    name: 'messaging.client.consumed.messages',
    kind: 'counter',
    unit: '{message}',
    description: 'Messages that were given to a receptor, each attempt once.',
    attributes: [...messaging, names.errorType],
  },
  operationDuration: {
    name: 'messaging.client.operation.duration',
    kind: 'histogram',
    unit: 's',
    description: 'How long the transport took for a batch.',
    attributes: [names.system, names.operation, names.service, names.errorType],
  },
  processDuration: {
    name: 'messaging.process.duration',
    kind: 'histogram',
    unit: 's',
    description: 'How long a receptor ran, or a batch of a perspective.',
    attributes: [...messaging, names.receptor, names.perspective, names.errorType],
  },
  created: {
    name: 'whizbang.created.messages',
    kind: 'counter',
    unit: '{message}',
    description: 'Messages that were made by publish, send and append.',
    attributes: [names.destination, names.service],
  },
  retries: {
    name: 'whizbang.retries',
    kind: 'counter',
    unit: '{attempt}',
    description: 'Attempts that failed and are made again.',
    attributes: [names.service, names.lane, names.type, names.errorType],
  },
  givenUp: {
    name: 'whizbang.given_up.messages',
    kind: 'counter',
    unit: '{message}',
    description: 'Messages that became dead letters.',
    attributes: [names.service, names.lane, names.type, names.errorType],
  },
  lostLeases: {
    name: 'whizbang.lost_leases',
    kind: 'counter',
    unit: '{lease}',
    description: 'Leases that ended, or may have, before their message was finished.',
    attributes: [names.service, names.lane],
  },
  orderViolations: {
    name: 'whizbang.order.violations',
    kind: 'counter',
    unit: '{violation}',
    description: 'Messages that were seen out of the order of their stream.',
    attributes: [names.service, names.lane],
  },
  duplicates: {
    name: 'whizbang.duplicates',
    kind: 'counter',
    unit: '{message}',
    description: 'Messages that calls did not store, because the lane knew their ids.',
    attributes: [names.service, names.lane],
  },
  callDuration: {
    name: 'whizbang.call.duration',
    kind: 'histogram',
    unit: 's',
    description: 'How long a call of process_work_batch took.',
    attributes: [names.service, names.errorType],
  },
  callRows: {
    name: 'whizbang.call.rows',
    kind: 'counter',
    unit: '{row}',
    description: 'Messages and bookmarks that calls handed out.',
    attributes: [names.service, names.lane],
  },
  streams: {
    name: 'whizbang.backlog.streams',
    kind: 'gauge',
    unit: '{stream}',
    description:
      'Streams with unfinished messages, up to 10 001: due, scheduled, limited, unhandled or paused.',
    attributes: [names.service, names.lane, names.state],
  },
  newMessages: {
    name: 'whizbang.backlog.new_messages',
    kind: 'gauge',
    unit: '{message}',
    description: 'Messages that no call has seen yet, up to 10 001.',
    attributes: [names.service, names.lane],
  },
  age: {
    name: 'whizbang.backlog.age',
    kind: 'gauge',
    unit: 's',
    description: 'For how long the longest waiting stream has been due.',
    attributes: [names.service, names.lane],
  },
  leases: {
    name: 'whizbang.leases',
    kind: 'gauge',
    unit: '{stream}',
    description: 'Streams that instances hold, up to 10 001.',
    attributes: [names.service, names.lane],
  },
  deadLetters: {
    name: 'whizbang.dead_letters',
    kind: 'gauge',
    unit: '{message}',
    description: 'Dead letters that are kept, up to 10 001.',
    attributes: [names.service, names.lane],
  },
  instances: {
    name: 'whizbang.instances',
    kind: 'gauge',
    unit: '{instance}',
    description: 'Instances, living or silent.',
    attributes: [names.service, names.state],
  },
  perspectiveEvents: {
    name: 'whizbang.perspective.lag.events',
    kind: 'gauge',
    unit: '{event}',
    description: 'About how many events a perspective has not applied yet.',
    attributes: [names.service, names.perspective],
  },
  perspectiveLag: {
    name: 'whizbang.perspective.lag',
    kind: 'gauge',
    unit: 's',
    description: 'For how long the oldest of them has waited.',
    attributes: [names.service, names.perspective],
  },
  perspectiveHeld: {
    name: 'whizbang.perspective.held',
    kind: 'gauge',
    unit: '{stream}',
    description: 'Streams or models that a perspective holds after a failure.',
    attributes: [names.service, names.perspective],
  },
} as const satisfies Readonly<Record<string, MetricFacts>>;

type MetricKey = keyof typeof metricTable;
type KeyOf<K extends Kind> = {
  [Key in MetricKey]: (typeof metricTable)[Key]['kind'] extends K ? Key : never;
}[MetricKey];

export type CounterKey = KeyOf<'counter'>;
export type HistogramKey = KeyOf<'histogram'>;
export type GaugeKey = KeyOf<'gauge'>;

export function keysOf<K extends Kind>(kind: K): readonly KeyOf<K>[] {
  return (Object.keys(metricTable) as MetricKey[]).filter(
    (key) => metricTable[key].kind === kind,
  ) as KeyOf<K>[];
}
