// One service over several databases: which of its cells a message goes to.
// In: the lists of cells. Out: whether a database is to get a message.
// Called by the connection to several databases. A stream is in one cell as long as the list stays the same.
import { WhizbangError } from '../../errors.js';
import { shardOfMessage } from '../order/shards.js';
import type { TransportMessage } from '../transport.js';

type Lists = Readonly<Record<string, readonly string[]>>;

export class Cells {
  readonly #services: readonly string[];
  /** By the name of a cell. */
  readonly #listOf = new Map<string, readonly string[]>();
  /** The list of the own service, and its cell in it, where the service is divided itself. */
  readonly #own: { readonly list: readonly string[]; readonly name: string } | undefined;

  /** `databases`: the names of the entries. Throws INVALID_OPTION when a cell is neither an entry nor this service's own. */
  constructor(cells: Lists, databases: readonly string[], ownService: string) {
    this.#services = Object.keys(cells);
    for (const [service, list] of Object.entries(cells)) {
      const missing = list.find((name) => !databases.includes(name));
      if (missing !== undefined && service !== ownService) throw unknownCell(service, missing);
      if (service === ownService) {
        if (missing === undefined) throw noOwnCell(service);
        this.#own = { list, name: missing };
      }
      for (const name of list) this.#listOf.set(name, list);
    }
  }

  /** Whether the database of this name may get the message: it is no cell, or the cell of the message's stream. */
  isFor(database: string, message: TransportMessage): boolean {
    const list = this.#listOf.get(database);
    return list === undefined || list[shardOfMessage(message, list.length)] === database;
  }

  /** Whether this service is a cell, and the message belongs to another one. */
  isElsewhere(message: TransportMessage): boolean {
    if (this.#own === undefined) return false;
    const { list, name } = this.#own;
    return list[shardOfMessage(message, list.length)] !== name;
  }

  /** The services that are divided. */
  get services(): readonly string[] {
    return this.#services;
  }
}

function unknownCell(service: string, name: string): WhizbangError {
  return new WhizbangError('INVALID_OPTION', {
    message: `postgresTransport: cells.${service} names ${name}, which is no entry of databases.`,
    hint: `Add databases: { ${JSON.stringify(name)}: { connectionString, schema } }, or correct the name.`,
    details: { option: `cells.${service}`, value: name },
  });
}

function noOwnCell(service: string): WhizbangError {
  return new WhizbangError('INVALID_OPTION', {
    message: `postgresTransport: all cells of ${service} are entries of databases, and this is an instance of ${service}.`,
    hint: `Leave the cell in which this instance runs out of databases, and in the list cells.${service}: so it is known.`,
    details: { option: `cells.${service}` },
  });
}
