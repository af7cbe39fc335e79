import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { bundled } from '../support/bundled.js';
import { createTestDatabase } from '../support/database.js';

const run = promisify(execFile);

/** What Node does in a program that has not installed the package. */
const hooks = `export function resolve(name, context, next) {
  if (name === '@opentelemetry/api') throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
  return next(name, context);
}`;
const dataUrl = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;
const withoutApi = dataUrl(
  `import { register } from 'node:module'; register(${JSON.stringify(dataUrl(hooks))});`,
);

describe('A program without OpenTelemetry', () => {
  it('a program that cannot load the API of OpenTelemetry sends and handles as always', async () => {
    await using db = await createTestDatabase();
    const program = bundled(new URL('support/plain-program.ts', import.meta.url));
    const { stdout } = await run(process.execPath, ['--import', withoutApi, program, db.connectionString]);
    expect(JSON.parse(stdout)).toEqual({
      hasApi: false,
      traceparent: expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/),
    });
  });
});
