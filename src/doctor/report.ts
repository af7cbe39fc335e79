// What a bug report needs: versions, settings, findings, counts. In: a session and a schema. Out: an object to print as JSON.
// Called by `whizbang report`. It holds no payload, no host and no password.
import { arch, platform } from 'node:os';
import { type Queryable, quoteSchema } from '../database/index.js';
import { Operator } from '../operate/index.js';
import { packageVersion } from '../version.js';
import { examine } from './examine.js';

export async function reportOf(db: Queryable, schema: string): Promise<unknown> {
  const findings = await examine(db, schema);
  const { rows: server } = await db.query('select version()');
  const { rows: settings } = await db.query(
    `select name, setting, unit from pg_settings
     where source not in ('default', 'override', 'client') and category not like 'File Locations' and name !~ 'password|conninfo|file|directory|command|addresses'
     order by name`,
  );
  const isInstalled = !findings.some(({ code }) => ['not-migrated', 'privileges'].includes(code));
  const installed = isInstalled
    ? {
        status: withoutHosts(await new Operator(db, schema).status()),
        tables: (await db.query(`select * from ${quoteSchema(schema)}.wh_table_health order by table_name`))
          .rows,
      }
    : {};
  return {
    package: packageVersion,
    node: process.version,
    platform: `${platform()} ${arch()}`,
    server: (server[0] as { version: string }).version,
    settings,
    findings,
    ...installed,
  };
}

function withoutHosts(status: Awaited<ReturnType<Operator['status']>>) {
  return { ...status, instances: status.instances.map(({ host: _, ...instance }) => instance) };
}
