// Emmett's event store on PostgreSQL, by its public method. Its package demands another major version of commander than this
// one has, so it is installed in a folder of its own, which EMMETT names:
//   npm install --prefix ../emmett @event-driven-io/emmett-postgresql @event-driven-io/emmett @event-driven-io/pongo

import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BenchServer } from '../server.js';
import { type AppendSettings, appendSource } from './appending.js';
import { type Runner, repeatFor } from './contender.js';

interface EmmettStore {
  appendToStream(
    stream: string,
    events: readonly { readonly type: string; readonly data: unknown; readonly metadata: unknown }[],
    options: { readonly expectedStreamVersion: bigint | 'STREAM_DOES_NOT_EXIST' },
  ): Promise<{ readonly nextExpectedStreamVersion: bigint }>;
  close(): Promise<void>;
}

interface Emmett {
  getPostgreSQLEventStore(connectionString: string): EmmettStore;
}

/** Undefined: it is not installed. */
async function loadEmmett(): Promise<Emmett | undefined> {
  const folder = process.env.EMMETT;
  if (folder === undefined) return undefined;
  const file = createRequire(path.resolve(folder, 'package.json')).resolve(
    '@event-driven-io/emmett-postgresql',
  );
  return (await import(pathToFileURL(file).href)) as Emmett;
}

/** Undefined: it is not installed. */
export async function openEmmettAppend(
  server: BenchServer,
  settings: AppendSettings,
): Promise<Runner | undefined> {
  const emmett = await loadEmmett();
  if (emmett === undefined) return undefined;
  const database = await server.createDatabase();
  const store = emmett.getPostgreSQLEventStore(database.connectionString);
  const next = appendSource(settings);
  return {
    name: 'emmett',
    slice: (milliseconds) =>
      repeatFor(milliseconds, async () => {
        const { streamId, version, events } = next();
        const made = events.map(({ event_type: type, event_data: data, metadata }) => ({
          type,
          data,
          metadata,
        }));
        const expectedStreamVersion = version === 0 ? 'STREAM_DOES_NOT_EXIST' : BigInt(version);
        const result = await store.appendToStream(streamId, made, { expectedStreamVersion });
        if (Number(result.nextExpectedStreamVersion) !== version + made.length) {
          throw new Error(`the stream is at version ${result.nextExpectedStreamVersion}`);
        }
        return made.length;
      }),
    close: async () => {
      await store.close();
      await database.drop();
    },
  };
}
