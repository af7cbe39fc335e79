// The pages of the site in the order of reading. In: nothing; out: groups of links. Read by the site's configuration and by
// test/docs/site.test.ts, which sees to it that every page is here.

export interface Group {
  readonly text: string;
  readonly collapsed?: boolean;
  readonly items: readonly { readonly text: string; readonly link: string }[];
}

export const sidebar: readonly Group[] = [
  {
    text: 'Guide',
    items: [
      { text: 'Overview', link: '/guide/' },
      { text: 'Getting started', link: '/guide/getting-started' },
      { text: 'Messages', link: '/guide/messages' },
      { text: 'Sending', link: '/guide/sending' },
      { text: 'Delays and schedules', link: '/guide/delays-and-schedules' },
      { text: 'Your own transaction', link: '/guide/your-own-transaction' },
      { text: 'Receptors', link: '/guide/receptors' },
      { text: 'Middleware', link: '/guide/middleware' },
      { text: 'Limits', link: '/guide/limits' },
      { text: 'Batches', link: '/guide/batches' },
      { text: 'Ordering', link: '/guide/ordering' },
      { text: 'Retries and dead letters', link: '/guide/retries-and-dead-letters' },
      { text: 'Sagas', link: '/guide/sagas' },
      { text: 'Requests', link: '/guide/requests' },
      { text: 'The event store', link: '/guide/event-store' },
      { text: 'Perspectives', link: '/guide/perspectives' },
      { text: 'Rebuilding', link: '/guide/rebuilding' },
      { text: 'Erasing', link: '/guide/erasing' },
      { text: 'Testing', link: '/guide/testing' },
      { text: 'Running a service', link: '/guide/running-a-service' },
      { text: 'NestJS', link: '/guide/nestjs' },
      { text: 'Transports', link: '/guide/transports' },
      { text: 'Strategies', link: '/guide/strategies' },
      { text: 'pgbouncer', link: '/guide/pgbouncer' },
      { text: 'Plain inserts', link: '/guide/plain-inserts' },
    ],
  },
  {
    text: 'Transports',
    items: [
      { text: 'PostgreSQL', link: '/transports/postgres' },
      { text: 'Cells', link: '/transports/cells' },
      { text: 'RabbitMQ', link: '/transports/rabbitmq' },
      { text: 'NATS', link: '/transports/nats' },
      { text: 'Azure Service Bus', link: '/transports/azure-service-bus' },
      { text: 'SQS and SNS', link: '/transports/sqs' },
      { text: 'Kafka by Debezium', link: '/transports/kafka' },
      { text: 'The relay', link: '/transports/relay' },
    ],
  },
  {
    text: 'Choose',
    items: [
      { text: 'How it compares', link: '/compare' },
      { text: 'Coming from a job queue', link: '/coming-from' },
    ],
  },
  {
    text: 'Reference',
    items: [
      { text: 'API', link: '/reference/api' },
      { text: 'Options', link: '/reference/options' },
      { text: 'Errors', link: '/reference/errors' },
      { text: 'Events', link: '/reference/events' },
      { text: 'SQL', link: '/reference/sql' },
      { text: 'Command line', link: '/reference/command-line' },
      { text: 'Glossary', link: '/glossary' },
    ],
  },
  {
    text: 'Operate',
    items: [
      { text: 'In production', link: '/operate/in-production' },
      { text: 'Why is my message not running?', link: '/operate/why-is-my-message-not-running' },
      { text: 'Explain', link: '/operate/explain' },
      { text: 'Acting', link: '/operate/actions' },
      { text: 'The page', link: '/operate/dashboard' },
      { text: 'Monitoring', link: '/operate/monitoring' },
      { text: 'The doctor', link: '/operate/doctor' },
      { text: 'Order is watched', link: '/operate/order' },
      { text: 'History', link: '/operate/history' },
      { text: 'Views', link: '/operate/views' },
      { text: 'Sizing', link: '/operate/sizing' },
      { text: 'Upgrade, backup, failover', link: '/operate/upgrade-and-backup' },
      { text: 'Least privilege', link: '/operate/least-privilege' },
    ],
  },
  {
    text: 'Internals',
    collapsed: true,
    items: [
      { text: 'Life of a message', link: '/internals/life-of-a-message' },
      { text: 'Mechanism', link: '/internals/mechanism' },
      { text: 'Lock order', link: '/internals/lock-order' },
      { text: 'Ticks', link: '/internals/ticks' },
      { text: 'Bookmarks', link: '/internals/bookmarks' },
      { text: 'Crashes', link: '/internals/crashes' },
      { text: 'Schema', link: '/internals/schema' },
      { text: 'Benchmarks', link: '/internals/benchmarks' },
      { text: 'Internal words', link: '/internals/words' },
      { text: 'Decisions', link: '/decisions/' },
    ],
  },
];
