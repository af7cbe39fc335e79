import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { unitTests } from './unit-tests.js';

const found = unitTests(fileURLToPath(new URL('../../', import.meta.url)));

describe('The tests that need no PostgreSQL', () => {
  it('a test from which no import leads to a database is a unit test', () => {
    expect(found).toContain('test/options.test.ts');
    expect(found).toContain('test/work/ordered-stream-processor.test.ts');
    expect(found).toContain('test/support/unit-tests.test.ts');
  });

  it('a test that asks for a database, directly or through what it imports, is not a unit test', () => {
    expect(found).not.toContain('test/testing/database.test.ts');
    expect(found).not.toContain('test/sql/retries.test.ts');
    expect(found).not.toContain('test/runtime/handling.test.ts');
    expect(found).not.toContain('test/embedded/embedded.test.ts');
    expect(found).not.toContain('test/testing/guide.test.ts');
  });
});
