import {
  type ConnectionPool,
  defaultSchema,
  quoteSchema,
  refuseConnectionString,
} from '../../database/index.js';
import { invalidOption, refuseUnknownKeys } from '../../options.js';

/** A database beside the service's own: how it is reached, and the schema of the service that is there. */
export type OtherDatabaseOptions = {
  /** The schema of the service in that database. Default: `whizbang`. */
  readonly schema?: string | undefined;
} & (
  | {
      /**
       * A URL, or a function that returns it, for credentials that change: it is called at the start, and again when a
       * connection cannot be opened. A pool of two connections is made for each instance.
       */
      readonly connectionString: string | (() => Promise<string>);
      /** As in pg: `true`, or the options of TLS. */
      readonly ssl?: boolean | object | undefined;
      readonly pool?: undefined;
    }
  /** A pool of yours, which stays open. */
  | { readonly pool: ConnectionPool; readonly connectionString?: undefined; readonly ssl?: undefined }
);

/** Options of `postgresTransport`. */
export interface PostgresTransportOptions {
  /** The services in other databases, by their names. */
  readonly databases?: Readonly<Record<string, OtherDatabaseOptions>> | undefined;
  /**
   * Services that are divided over several databases: for each the names of its cells, which are entries of `databases`.
   * The stream of a message decides which of them gets it: `shardOf`, over the length of the list. A cell may be in the
   * list more than once.
   */
  readonly cells?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** An entry of `databases` that was checked. */
export interface DatabaseEntry {
  readonly name: string;
  /** The name of the service that is there: the entry's name, or that of the service whose cell it is. */
  readonly service: string;
  readonly schema: string;
  /** The services that are divided, and of which this is no cell. */
  readonly noCellOf: readonly string[];
  readonly given: OtherDatabaseOptions;
}

const owner = 'postgresTransport';

/** Checks the options. Names in `cells` that are no entries may be this service's own cell: see `Cells`. */
export function resolveDatabases(options: PostgresTransportOptions): readonly DatabaseEntry[] {
  refuseUnknownKeys(owner, { ...options }, ['databases', 'cells']);
  const { databases = {}, cells = {} } = options;
  refuseNoRecord('databases', databases, 'databases: { ledger: { connectionString, schema } }');
  refuseNoRecord('cells', cells, "cells: { orders: ['orders-0', 'orders-1'] }");
  for (const [service, names] of Object.entries(cells)) refuseCells(service, names, databases);
  return Object.entries(databases).map(([name, given]) => {
    refuseEntry(`databases.${name}`, given);
    const cellOf = Object.keys(cells).find((service) => cells[service]?.includes(name));
    const noCellOf = Object.keys(cells).filter((service) => !cells[service]?.includes(name));
    return { name, service: cellOf ?? name, schema: given.schema ?? defaultSchema, noCellOf, given };
  });
}

function refuseNoRecord(option: string, value: unknown, example: string): void {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return;
  throw invalidOption(owner, option, `${option} is not an object`, `Write ${example}.`);
}

function refuseEntry(option: string, given: OtherDatabaseOptions): void {
  refuseNoRecord(option, given, `${option}: { connectionString, schema }`);
  refuseUnknownKeys(`${owner}: ${option}`, { ...given }, ['connectionString', 'pool', 'ssl', 'schema']);
  const { connectionString, pool, ssl, schema = defaultSchema } = given;
  if ((connectionString === undefined) === (pool === undefined)) {
    const fact = connectionString === undefined ? 'neither connectionString nor pool' : 'both';
    throw invalidOption(
      owner,
      `${option}.connectionString`,
      `${option} has ${fact === 'both' ? 'both connectionString and pool' : fact}`,
      'Give one of them. If it is given but undefined, check that its environment variable is set.',
    );
  }
  if (connectionString !== undefined && typeof connectionString !== 'function')
    refuseConnectionString(owner, `${option}.connectionString`, connectionString);
  if (pool !== undefined && typeof (pool as { connect?: unknown } | null)?.connect !== 'function')
    throw invalidOption(owner, `${option}.pool`, `${option}.pool is not a pool`, 'Give a pool of pg.');
  if (pool !== undefined && ssl !== undefined)
    throw invalidOption(owner, `${option}.ssl`, `${option} has both pool and ssl`, 'Set ssl in the pool.');
  quoteSchema(schema);
}

function refuseCells(service: string, names: unknown, databases: object): void {
  const option = `cells.${service}`;
  const isList = Array.isArray(names) && names.length > 0 && names.every((name) => typeof name === 'string');
  if (!isList)
    throw invalidOption(
      owner,
      option,
      `${option} is not a list of names`,
      "Write cells: { orders: ['orders-0', 'orders-1'] }, with an entry of databases for each.",
    );
  if (Object.hasOwn(databases, service))
    throw invalidOption(
      owner,
      option,
      `${service} is an entry of databases and is divided into cells, too`,
      'Give each cell a name of its own in databases, such as orders-0, and leave out the entry with the name of the service.',
    );
  const unknown = [...new Set(names as string[])].filter((name) => !Object.hasOwn(databases, name));
  if (unknown.length > 1)
    throw invalidOption(
      owner,
      option,
      `${option} names ${unknown.join(' and ')}, which are no entries of databases`,
      `Add them to databases. Only one may be missing: the cell in which ${service} itself runs.`,
    );
}
