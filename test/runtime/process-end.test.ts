// What keeps a process alive, and what does not: a script that sends is not a service.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { bundledDoorUrls } from '../support/bundled-doors.js';
import { createTestDatabase } from '../support/database.js';

const program = (last: string) => `
  import { createWhizbang, defineEvent } from '${bundledDoorUrls().whizbang}';
  import { z } from '${import.meta.resolve('zod')}';
  const Placed = defineEvent('Placed', { schema: z.object({ id: z.string() }) });
  const shop = createWhizbang({ service: 'shop', connectionString: process.env.DATABASE_URL });
  ${last}`;
const args = (last: string) => ['--input-type=module', '--eval', program(last)];

describe('A process', () => {
  it('a process that only sends ends by itself, and what it sent is stored', async () => {
    await using db = await createTestDatabase();
    const sends = "await shop.publish(Placed({ id: 'a' })); console.log('sent');";
    const env = { ...process.env, DATABASE_URL: db.connectionString };
    const { stdout } = await promisify(execFile)(process.execPath, args(sends), { env, timeout: 170_000 });
    expect(stdout).toBe('sent\n');
    expect((await db.pool.query('select event_type from wh_outbox')).rows).toEqual([
      { event_type: 'Placed' },
    ]);
  });

  it.each(['true', 'false'])(
    'a process with a started instance lives until that is stopped, with listen: %s',
    async (listen) => {
      await using db = await createTestDatabase();
      const runs = `
      await shop.stop();
      const service = createWhizbang({ service: 'shop', connectionString: process.env.DATABASE_URL, listen: ${listen} });
      process.once('SIGTERM', async () => { await service.stop(); console.log('stopped'); });
      await service.start();
      setTimeout(() => console.log('alive'), 1500).unref();`;
      const child = spawn(process.execPath, args(runs), {
        env: { ...process.env, DATABASE_URL: db.connectionString },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let printed = '';
      child.stdout.on('data', (bytes: Buffer) => {
        printed += bytes.toString();
        if (printed === 'alive\n') child.kill('SIGTERM');
      });
      expect(await once(child, 'close')).toEqual([0, null]);
      expect(printed).toBe('alive\nstopped\n');
    },
  );
});
