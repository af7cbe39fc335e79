import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { packageVersion } from '../src/version.js';

it('the version in the code is the version of the package', () => {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  expect(packageVersion).toBe((JSON.parse(manifest) as { version: string }).version);
});
