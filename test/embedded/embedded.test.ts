import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from '../../src/embedded/index.js';
import { memoryFolder } from '../support/memory-folder.js';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(options: EmbeddedPostgresOptions = {}): Promise<EmbeddedPostgres> {
  const place = options.dataDir === undefined ? { tempDir: memoryFolder() } : {};
  const server = await startEmbeddedPostgres({ ...place, ...options });
  cleanups.push(() => server.stop());
  return server;
}

async function newFolder(mode = 0o755): Promise<string> {
  const path = await mkdtemp(join(memoryFolder(), 'whizbang-test-'));
  await chmod(path, mode);
  cleanups.push(() => rm(path, { recursive: true, force: true }));
  return path;
}

async function ask(server: { connectionString: string }, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: server.connectionString });
  await client.connect();
  try {
    const { rows } = await client.query<{ answer: unknown }>(sql);
    return rows[0]?.answer;
  } finally {
    await client.end();
  }
}

const serverPid = async (server: EmbeddedPostgres): Promise<number> =>
  Number.parseInt(await readFile(join(server.dataDir, 'postmaster.pid'), 'utf8'), 10);

describe('the embedded database', () => {
  it('the embedded database starts and answers with the version it reports', async () => {
    const server = await start();
    expect(await ask(server, `select current_setting('server_version') as answer`)).toMatch(
      new RegExp(`^${server.version.replace('.', '\\.')}`),
    );
  });

  it('the embedded database never runs as root, whoever starts it', async () => {
    const server = await start();
    const { stdout } = await promisify(execFile)('ps', ['-o', 'uid=', '-p', String(await serverPid(server))]);
    expect(Number(stdout)).toBeGreaterThan(0);
  });

  it('two embedded databases run at once and share nothing', async () => {
    const [one, other] = await Promise.all([start(), start()]);
    await ask(one, 'create table only_here ()');
    expect(one.port).not.toBe(other.port);
    expect(await ask(other, `select to_regclass('only_here') as answer`)).toBeNull();
  });

  it('the embedded database removes its data and frees its port when it is stopped, once or twice', async () => {
    const server = await start();
    await Promise.all([server.stop(), server.stop()]);
    await expect(stat(server.dataDir)).rejects.toMatchObject({ code: 'ENOENT' });
    await expect(ask(server, 'select 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('the embedded database lets nobody in without the password', async () => {
    const { port } = await start();
    await expect(
      ask({ connectionString: `postgres://postgres:guess@127.0.0.1:${port}/postgres` }, 'select 1'),
    ).rejects.toMatchObject({ code: '28P01' });
  });

  it('the embedded database applies settings, and is durable by default only when its data is kept', async () => {
    const kept = await start({
      dataDir: join(await newFolder(), 'data'),
      settings: { max_connections: '17' },
    });
    const temporary = await start({ settings: { work_mem: '7MB' } });
    const durable = await start({ durable: true });
    expect(await ask(kept, `select current_setting('max_connections') as answer`)).toBe('17');
    expect(await ask(kept, `select current_setting('fsync') as answer`)).toBe('on');
    expect(await ask(temporary, `select current_setting('work_mem') as answer`)).toBe('7MB');
    expect(await ask(temporary, `select current_setting('fsync') as answer`)).toBe('off');
    expect(await ask(durable, `select current_setting('fsync') as answer`)).toBe('on');
  });

  it('temporary data lies in the folder that is given, and is gone after the stop', async () => {
    const tempDir = await newFolder();
    const server = await start({ tempDir });
    expect(server.dataDir.startsWith(tempDir)).toBe(true);
    expect(await ask(server, 'select 1 as answer')).toBe(1);
    await server.stop();
    expect(await readdir(join(server.dataDir, '..'))).toEqual([]);
  });

  it('the embedded database keeps the data of a named folder from one start to the next', async () => {
    const dataDir = join(await newFolder(), 'nested', 'data');
    const first = await start({ dataDir });
    await ask(first, 'create table kept as select 42 as value');
    await first.stop();
    const second = await start({ dataDir });
    expect(await ask(second, 'select value as answer from kept')).toBe(42);
  });

  it.each([
    ['a restart', {}],
    ['a crash', { crash: true }],
  ])('the embedded database keeps its address and what was committed through %s', async (_name, how) => {
    const server = await start();
    await ask(server, 'create table kept as select 42 as value');
    const before = await serverPid(server);
    await server.restart(how);
    expect(await serverPid(server)).not.toBe(before);
    expect(await ask(server, 'select value as answer from kept')).toBe(42);
  });

  it('the embedded database cannot be restarted once it was stopped', async () => {
    const server = await start();
    await server.stop();
    await expect(server.restart()).rejects.toMatchObject({ code: 'EMBEDDED_START_FAILED' });
  });

  it('the embedded database stops at the end of an `await using` block', async () => {
    const server = await start();
    await server[Symbol.asyncDispose]();
    await expect(stat(server.dataDir)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('several starts at once fill an empty cache, and a later start repairs a damaged one', async () => {
    const tempDir = await newFolder();
    vi.stubEnv('TMPDIR', tempDir);
    const startHere = () => start({ tempDir });
    const [first] = await Promise.all([startHere(), startHere(), startHere()]);
    const run = join(first.dataDir, '..');
    const cache = join(run, '..', 'cache');
    const templates = (await readdir(cache)).filter((name) => name.startsWith('template-'));
    expect(templates).toHaveLength(1);
    expect(await readdir(run)).toHaveLength(3);
    await rm(join(cache, templates[0] ?? '', 'content', 'base', '1'), { recursive: true });
    expect(await ask(await startHere(), 'select 1 as answer')).toBe(1);
  });
});

describe('What the embedded database refuses', () => {
  const failure = (options: EmbeddedPostgresOptions) =>
    start(options).then(
      () => undefined,
      (error: unknown) => error,
    );

  it('the embedded database refuses a folder without its programs, and names the missing one', async () => {
    const binDir = await newFolder();
    expect(await failure({ binDir })).toMatchObject({
      code: 'EMBEDDED_BINARIES_MISSING',
      message: `There is no program postgres in ${binDir}.`,
      hint: expect.stringContaining('WHIZBANG_PG_BIN'),
    });
  });

  it('the embedded database refuses a data directory that another process uses, and leaves that alone', async () => {
    const dataDir = join(await newFolder(), 'data');
    const first = await start({ dataDir });
    expect(await failure({ dataDir })).toMatchObject({
      code: 'EMBEDDED_START_FAILED',
      message: `The data directory ${dataDir} is in use by process ${process.pid}.`,
    });
    expect(await ask(first, 'select 1 as answer')).toBe(1);
  });

  it('the embedded database refuses a folder with other files, and leaves it as it was', async () => {
    const dataDir = await newFolder();
    await writeFile(join(dataDir, 'letter.txt'), 'mine');
    const before = await stat(dataDir);
    expect(await failure({ dataDir })).toMatchObject({
      code: 'EMBEDDED_START_FAILED',
      message: `The data directory ${dataDir} is not empty and not a PostgreSQL data directory.`,
    });
    expect(await readdir(dataDir)).toEqual(['letter.txt']);
    expect((await stat(dataDir)).uid).toBe(before.uid);
  });

  it('the embedded database refuses data of another major version', async () => {
    const dataDir = await newFolder();
    await writeFile(join(dataDir, 'PG_VERSION'), '9\n');
    expect(await failure({ dataDir })).toMatchObject({
      code: 'EMBEDDED_START_FAILED',
      message: expect.stringContaining('holds data of PostgreSQL 9'),
    });
  });

  it('the embedded database refuses a port that is taken, and its folder can be started afterwards', async () => {
    const first = await start();
    const dataDir = join(await newFolder(), 'data');
    expect(await failure({ dataDir, port: first.port })).toMatchObject({
      code: 'EMBEDDED_START_FAILED',
      details: { log: expect.stringContaining(String(first.port)) },
    });
    expect(await ask(await start({ dataDir }), 'select 1 as answer')).toBe(1);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'the embedded database refuses, as root, a data directory that the unprivileged user cannot enter',
    async () => {
      const closed = await newFolder(0o700);
      expect(await failure({ dataDir: join(closed, 'data') })).toMatchObject({
        code: 'EMBEDDED_START_FAILED',
        message: expect.stringContaining('cannot be entered by user 65534'),
      });
    },
  );

  it.each([
    ['port', { port: 65_536 }],
    ['port', { port: 1.5 }],
    ['dataDir', { dataDir: ' ' }],
    ['tempDir', { tempDir: '/tmp', dataDir: '/tmp/data' }],
    ['settings.listen_addresses', { settings: { listen_addresses: '*' } }],
    ['settings.work mem', { settings: { 'work mem': '1' } }],
    ['datadir', { datadir: '/tmp' } as EmbeddedPostgresOptions],
  ])('the embedded database refuses the option %s in %j', async (option, options) => {
    expect(await failure(options)).toMatchObject({ code: 'INVALID_OPTION', details: { option } });
  });
});
