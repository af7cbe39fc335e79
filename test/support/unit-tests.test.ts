import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { unitTests } from './unit-tests.js';

const found = unitTests(fileURLToPath(new URL('../../', import.meta.url)));

describe('The tests that need no PostgreSQL', () => {
  it('are those from which no import leads to one', () => {
    expect(found).toContain('test/options.test.ts');
    expect(found).toContain('test/work/ordered-stream-processor.test.ts');
    expect(found).toContain('test/support/unit-tests.test.ts');
  });

  it('are none of those that ask for a database, directly, through a fixture or by a server of their own', () => {
    expect(found).not.toContain('test/testing/database.test.ts');
    expect(found).not.toContain('test/sql/retries.test.ts');
    expect(found).not.toContain('test/runtime/handling.test.ts');
    expect(found).not.toContain('test/embedded/embedded.test.ts');
    expect(found).not.toContain('test/testing/guide.test.ts');
  });
});
