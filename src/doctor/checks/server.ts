// The server: which engine, whether its settings keep what was committed, whether its clock can be trusted, what holds vacuum.
import { type Queryable, refuseEngine } from '../../database/index.js';
import { WhizbangError } from '../../errors.js';
import { type Finding, fault, warning } from '../finding.js';

const oldestVersion = 150_000;
const mostClockSeconds = 5;
/** A transaction that is open for longer keeps dead rows of everything that was finished meanwhile. */
const oldTransactionMinutes = 10;

export async function checkServer(db: Queryable): Promise<Finding[]> {
  const asked = Date.now();
  const { rows } = await db.query(
    `select version(), current_setting('server_version_num')::int as number, current_setting('fsync') as fsync,
       current_setting('full_page_writes') as full_page_writes, current_setting('synchronous_commit') as synchronous_commit,
       current_setting('autovacuum') as autovacuum, current_setting('max_connections')::int as max_connections,
       (select count(*)::int from pg_stat_activity where backend_type = 'client backend') as connections,
       pg_is_in_recovery() as is_standby, extract(epoch from clock_timestamp())::float8 * 1000 as clock`,
  );
  const answered = Date.now();
  const server = rows[0] as Server;
  return [...engine(server), ...settings(server), ...clock(server.clock, asked, answered)];
}

interface Server {
  readonly version: string;
  readonly number: number;
  readonly fsync: string;
  readonly full_page_writes: string;
  readonly synchronous_commit: string;
  readonly autovacuum: string;
  readonly max_connections: number;
  readonly connections: number;
  readonly is_standby: boolean;
  readonly clock: number;
}

function engine({ version, number }: Server): Finding[] {
  try {
    const unknown = refuseEngine(version);
    if (unknown !== undefined)
      return [
        warning('engine', `The engine is not known to work: ${unknown}`, 'Use PostgreSQL 15 or later.'),
      ];
  } catch (error) {
    if (!(error instanceof WhizbangError)) throw error;
    return [fault('engine', error.message, error.hint)];
  }
  return number >= oldestVersion
    ? []
    : [fault('engine', `The server is too old: ${version}`, 'Upgrade to PostgreSQL 15 or later.')];
}

function settings(server: Server): Finding[] {
  const found: Finding[] = [];
  const loses = (name: string, setting: string) =>
    `alter system set ${name} = ${setting}; select pg_reload_conf();`;
  if (server.is_standby)
    found.push(fault('standby', 'This server is a standby: it takes no writes.', 'Connect to the primary.'));
  if (server.fsync === 'off')
    found.push(
      warning(
        'fsync',
        'fsync is off: a crash of the machine may destroy the database.',
        loses('fsync', 'on'),
      ),
    );
  if (server.full_page_writes === 'off')
    found.push(
      warning(
        'full-page-writes',
        'full_page_writes is off: a crash of the machine may destroy pages.',
        loses('full_page_writes', 'on'),
      ),
    );
  if (server.synchronous_commit === 'off')
    found.push(
      warning(
        'synchronous-commit',
        'synchronous_commit is off: a crash of the server may lose what was sent in the last moment.',
        loses('synchronous_commit', 'on'),
      ),
    );
  if (server.autovacuum === 'off')
    found.push(warning('autovacuum', 'autovacuum is off: the tables will grow.', loses('autovacuum', 'on')));
  if (server.connections > server.max_connections * 0.9)
    found.push(
      warning(
        'connections',
        `${server.connections} of ${server.max_connections} connections are in use.`,
        'Raise max_connections, lower the pools, or put pgbouncer before the server.',
      ),
    );
  return found;
}

/** The database's clock counts. One that differs from this machine's says that one of the two is wrong. */
function clock(server: number, asked: number, answered: number): Finding[] {
  const ahead = server > answered ? server - answered : server < asked ? server - asked : 0;
  const seconds = Math.round(ahead / 1000);
  if (Math.abs(seconds) < mostClockSeconds) return [];
  return [
    warning(
      'clock',
      `The clock of the server is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} that of this machine.`,
      'Synchronise both with NTP. Leases and schedules follow the clock of the server.',
      { seconds },
    ),
  ];
}

export async function checkTransactions(db: Queryable, schema: string): Promise<Finding[]> {
  const { rows } = await db.query(
    `select kind, name, role, application_name, state, extract(epoch from clock_timestamp() - since)::int as seconds
     from ${schema}.wh_old_transactions
     where since < clock_timestamp() - make_interval(mins => $1) or kind = 'slot' and state = 'inactive'
     order by since nulls first limit 20`,
    [oldTransactionMinutes],
  );
  return (rows as OldTransaction[]).map((old) => {
    const facts = { ...old };
    if (old.kind === 'slot')
      return warning(
        'old-transaction',
        `The replication slot ${old.name} is not in use and keeps dead rows and WAL.`,
        `select pg_drop_replication_slot('${old.name.replaceAll("'", "''")}');`,
        facts,
      );
    if (old.kind === 'prepared')
      return warning(
        'old-transaction',
        `The prepared transaction ${old.name} of ${old.role} is ${minutes(old.seconds)} old and keeps dead rows.`,
        `rollback prepared '${old.name.replaceAll("'", "''")}';`,
        facts,
      );
    const owner = [old.role, old.application_name].filter((part) => part).join(', ');
    return warning(
      'old-transaction',
      `A transaction (${owner}, ${old.state}) is ${minutes(old.seconds)} old: vacuum cannot clear what was finished since.`,
      `select pg_terminate_backend(${old.name});`,
      facts,
    );
  });
}

interface OldTransaction {
  readonly kind: 'transaction' | 'prepared' | 'slot';
  readonly name: string;
  readonly role: string | null;
  readonly application_name: string | null;
  readonly state: string;
  readonly seconds: number;
}

const minutes = (seconds: number) => `${Math.round(seconds / 60)} min`;
