import { randomBytes } from 'node:crypto';
import { chown, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Binaries, buildName } from './binaries.js';
import { type Identity, runAs } from './identity.js';
import { cachedFolder, type Workspace } from './workspace.js';

const passwordFile = 'whizbang.password';

/**
 * Fills an empty folder with what `initdb` makes. `initdb` runs once per build and user (half a second) and its
 * result is copied (50 ms). `PG_VERSION` is written last: a folder that has it is complete.
 */
export async function initialiseDataDir(
  dataDir: string,
  binaries: Binaries,
  workspace: Workspace,
  identity: Identity,
): Promise<void> {
  const name = `template-${buildName(binaries)}-${identity.uid}`;
  const template = await cachedFolder(workspace, name, identity, (made) => initdb(made, binaries, identity));
  await runAs(identity, 'cp', ['-R', `${join(template, 'content')}/.`, dataDir]);
  await runAs(identity, 'cp', [join(template, 'PG_VERSION'), dataDir]);
}

/**
 * Reads the superuser's password. Every user of the machine can reach loopback, so the port alone must not
 * give access.
 */
export async function readPassword(dataDir: string): Promise<string | undefined> {
  const text = await readFile(join(dataDir, passwordFile), 'utf8').catch(() => undefined);
  return text?.trim();
}

async function initdb(made: string, binaries: Binaries, identity: Identity): Promise<void> {
  const content = join(made, 'content');
  const password = join(made, passwordFile);
  await writeFile(password, `${randomBytes(24).toString('hex')}\n`, { mode: 0o600 });
  if (identity.spawn.uid !== undefined) await chown(password, identity.uid, identity.gid);
  await runAs(identity, join(binaries.binDir, 'initdb'), [
    `--pgdata=${content}`,
    '--username=postgres',
    `--pwfile=${password}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--no-locale',
    '--no-sync',
    '--no-instructions',
    // Key stretching protects passwords that can be guessed. Ours cannot, and it would cost milliseconds per
    // connection.
    ...(binaries.major >= 16 ? ['--set=scram_iterations=1'] : []),
  ]);
  await rename(password, join(content, passwordFile));
  await rename(join(content, 'PG_VERSION'), join(made, 'PG_VERSION'));
}
