// What a transport tells of its broker: whether it can be reached, settings and limits under which messages are lost, and what
// waits there. In: a transport that only looks, the services whose queues they are. Out: findings.
// Nothing is made, changed or received there.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type ConnectionPool, type Queryable, quoteSchema } from '../../database/index.js';
import { describeError } from '../../describe-error.js';
import { WhizbangError } from '../../errors.js';
import type { Logger } from '../../logger.js';
import type { QueueFacts, Transport, TransportConnection, TransportHost } from '../../transports/index.js';
import { type Finding, fault, warning } from '../finding.js';

/** Where to look: as the running services have it. */
export interface BrokerToExamine {
  readonly transport: Transport;
  /** None: those whose instances are known to the database. */
  readonly services: readonly string[];
}

const reachMs = 5_000;
const oldSeconds = 300;

export async function checkBroker(
  db: Queryable,
  schema: string,
  { transport, services: named }: BrokerToExamine,
): Promise<Finding[]> {
  const services = named.length > 0 ? named : await knownServices(db, schema);
  const findings = await checkStandbys(db, transport);
  for (const service of services) findings.push(...(await checkService(transport, service, schema)));
  return services.length > 0 ? findings : [...findings, nobodyKnown(transport)];
}

async function knownServices(db: Queryable, schema: string): Promise<string[]> {
  const { rows } = await db.query(
    `select distinct service_name from ${quoteSchema(schema)}.wh_instances order by service_name`,
  );
  return rows.map((row) => (row as { service_name: string }).service_name);
}

/** What the inbox has committed is gone from the broker: a standby that takes over without it has lost it for good. */
async function checkStandbys(db: Queryable, { name }: Transport): Promise<Finding[]> {
  if (name === 'postgres') return []; // both sides of it are lost, or kept, together
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

async function checkService(transport: Transport, service: string, schema: string): Promise<Finding[]> {
  const told = new Told(service, schema);
  let connection: TransportConnection | undefined;
  try {
    connection = await transport.connect(told);
    await connection.ready(AbortSignal.timeout(reachMs)).catch((error: unknown) => {
      throw told.outage ?? error;
    });
    const limits = ((await connection.examine?.()) ?? []).map((found) => ({
      code: 'broker-limits',
      ...found,
    }));
    const waiting = ((await connection.inspect?.()) ?? []).flatMap((queue) => waitingIn(queue, service));
    return [...limits, ...told.warnings, ...waiting];
  } catch (error) {
    return [unusable(transport, service, error)];
  } finally {
    await connection?.close();
  }
}

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

  /** What has a remedy. An outage is told as such. */
  #warn(facts: object, text: string): void {
    if ('hint' in facts) this.warnings.push(warning('broker-limits', `${text}.`, String(facts.hint)));
  }
}

function waitingIn({ name, depth, consumers, oldestSeconds }: QueueFacts, service: string): Finding[] {
  const facts = { service, queue: name, depth, consumers, oldestSeconds };
  const remedy = `See its instances: whizbang instances. A service that is gone for good: delete its queue, as the page of the transport says.`;
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
  const text = isOurs ? error.message : describeError(error);
  const remedy = isOurs ? error.hint : 'Start the broker, or correct the URL of --transport.';
  return fault('broker', `The service ${service} cannot use ${name}: ${text}`, remedy, { service });
}

const nobodyKnown = ({ name }: Transport) =>
  warning(
    'unchecked',
    `The queues at ${name} were not looked at: no instance of a service is known here.`,
    'Name the service: --service orders.',
  );
