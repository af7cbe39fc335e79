// What a transport tells of its broker: whether it can be reached, settings and limits under which messages are lost, and what
// waits there. In: a transport that only looks, the services whose queues they are. Out: findings.
// Nothing is made, changed or received there.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type ConnectionPool, type Queryable, quoteSchema } from '../../database/index.js';
import { describeBriefly } from '../../describe-error.js';
import { WhizbangError } from '../../errors.js';
import type { Logger } from '../../logger.js';
import { answerWithin } from '../../time-limits.js';
import type { QueueFacts, Transport, TransportHost } from '../../transports/index.js';
import { type Finding, fault, warning } from '../finding.js';

/** Where to look: as the running services have it. */
export interface BrokerToExamine {
  readonly transport: Transport;
  /** None: those whose instances are known to the database. */
  readonly services: readonly string[];
}

const reachMs = 5_000;
/** For all that is asked of a broker for one service. It may fall silent in the middle. */
const lookMs = 20_000;
const oldSeconds = 300;

export async function checkBroker(
  db: Queryable,
  schema: string,
  { transport, services: named }: BrokerToExamine,
  isInstalled: boolean,
): Promise<Finding[]> {
  const isNamed = named.length > 0;
  const services = new Set(isNamed || !isInstalled ? named : await knownServices(db, schema));
  const findings = [
    ...(await checkStandbys(db, transport)),
    ...(services.size === 0 ? [nobodyKnown(transport)] : []),
    ...(
      await Promise.all(Array.from(services, (each) => checkService(transport, each, schema, isNamed)))
    ).flat(),
  ];
  // What concerns all services is told once.
  return findings.filter(({ text }, i) => findings.findIndex((other) => other.text === text) === i);
}

async function knownServices(db: Queryable, schema: string): Promise<string[]> {
  const { rows } = await db.query(
    `select distinct service_name from ${quoteSchema(schema)}.wh_instances order by service_name`,
  );
  return rows.map((row) => (row as { service_name: string }).service_name);
}

/** What the inbox has committed is gone from the broker: a standby that takes over without it has lost it for good. */
async function checkStandbys(db: Queryable, { name }: Transport): Promise<Finding[]> {
  const { rows } = await db.query(
    `select count(*)::int as standbys from pg_stat_replication r
     where coalesce(r.application_name, '') not in ('pg_receivewal', 'pg_basebackup')
       and not exists (select from pg_replication_slots s where s.active_pid = r.pid and s.slot_type = 'logical')
       and current_setting('synchronous_standby_names') = ''`,
  );
  const { standbys } = rows[0] as { standbys: number };
  if (standbys === 0) return [];
  return [
    warning(
      'asynchronous-standby',
      `The server has ${standbys === 1 ? 'a standby' : `${standbys} standbys`}, and waits for none: a failover loses inbox messages that ${name} has no more.`,
      `alter system set synchronous_standby_names = 'any 1 (*)'; select pg_reload_conf();`,
      { standbys },
    ),
  ];
}

async function checkService(
  transport: Transport,
  service: string,
  schema: string,
  isNamed: boolean,
): Promise<readonly Finding[]> {
  const told = new Told(service, schema);
  const opening = transport.connect(told);
  const asFault = (error: unknown) => [unusable(transport, service, error)];
  const look = async () => {
    const connection = await opening;
    await connection.ready(AbortSignal.timeout(reachMs)).catch((error: unknown) => {
      throw told.outage ?? error;
    });
    const examine = async () => (await connection.examine?.()) ?? [];
    const inspect = async () => {
      const queues = await connection.inspect?.();
      const isMissing = isNamed && queues?.length === 0;
      return isMissing
        ? [withoutQueue(transport, service)]
        : queues?.flatMap((each) => waitingIn(each, service));
    };
    // Each by itself: who may not ask the one may ask the other.
    const limits = await examine().then(
      (found) => found.map((each) => ({ code: 'broker-limits', ...each })),
      asFault,
    );
    const waiting = await inspect().catch(asFault);
    return [...limits, ...told.warnings, ...(waiting ?? [])];
  };
  const found = await answerWithin(lookMs, look(), tooLate).catch(asFault);
  // The client of a silent broker may not end.
  await answerWithin(
    reachMs,
    opening.then((connection) => connection.close()),
  ).catch(() => {});
  return found;
}

const tooLate = (milliseconds: number) =>
  new WhizbangError('TRANSPORT_UNAVAILABLE', {
    message: `The broker did not answer within ${milliseconds / 1000} seconds.`,
  });

/** Hears what a connection says, and offers it no database: nothing is received. */
class Told implements TransportHost {
  readonly instance: TransportHost['instance'];
  readonly warnings: Finding[] = [];
  readonly logger: Logger;
  outage: unknown;

  constructor(
    serviceName: string,
    readonly schema: string,
  ) {
    this.instance = { instanceId: randomUUID(), serviceName, hostName: hostname(), processId: process.pid };
    const silent = () => {};
    this.logger = {
      debug: silent,
      info: silent,
      error: silent,
      warn: (facts, text) => this.#warn(facts, text),
    };
  }

  readonly pool: ConnectionPool = {
    connect: () => Promise.reject(new Error('The doctor receives nothing.')),
  };

  onState({ error }: Parameters<TransportHost['onState']>[0]): void {
    this.outage = error;
  }

  /** What has a remedy and is no outage, which is told as such. */
  #warn(facts: object, text: string): void {
    if ('hint' in facts && !('error' in facts))
      this.warnings.push(warning('broker-limits', `${text}.`, String(facts.hint)));
  }
}

function waitingIn({ name, depth, consumers, oldestSeconds }: QueueFacts, service: string): Finding[] {
  const facts = { service, queue: name, depth, consumers, oldestSeconds };
  const remedy = `See its instances: whizbang instances. A service that is gone for good: delete its queue at the broker.`;
  if (depth !== null && depth > 0 && consumers === 0) {
    const text = `${depth} ${depth === 1 ? 'message waits' : 'messages wait'} for the service ${service} in ${name}, and no instance of it is connected there.`;
    return [warning('broker-waiting', text, remedy, facts)];
  }
  if (oldestSeconds === null || oldestSeconds < oldSeconds) return [];
  const text = `A message has waited for the service ${service} in ${name} for ${Math.round(oldestSeconds / 60)} min.`;
  return [warning('broker-waiting', text, remedy, facts)];
}

function unusable({ name }: Transport, service: string, error: unknown): Finding {
  const isOurs = error instanceof WhizbangError;
  const text = isOurs
    ? [error.message, causeOf(error)].filter((each) => each !== '').join(' ')
    : describeBriefly(error);
  const remedy =
    isOurs && !error.retryable ? error.hint : 'Start the broker, or correct the URL of --transport.';
  return fault('broker', `The service ${service} cannot use ${name}: ${text}`, remedy, { service });
}

/** What the client of the broker says, if our own text does not say it. */
function causeOf({ cause, message }: WhizbangError): string {
  const text = cause instanceof Error ? cause.message : '';
  return text === '' || message.includes(text) ? '' : `(${text})`;
}

const withoutQueue = ({ name }: Transport, service: string) =>
  warning(
    'unchecked',
    `The service ${service} has no queue at ${name}.`,
    'Nothing is wrong if it only sends. Otherwise correct --service, or the options in the URL.',
    { service },
  );

const nobodyKnown = ({ name }: Transport) =>
  warning(
    'unchecked',
    `The queues at ${name} were not looked at: no instance of a service is known here.`,
    'Name the service: --service orders.',
  );
