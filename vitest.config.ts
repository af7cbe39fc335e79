import { configDefaults, defineConfig } from 'vitest/config';
import { unitTests } from './test/support/unit-tests.js';

const unit = unitTests(import.meta.dirname);

export default defineConfig({
  test: {
    reporters: ['default', './test/support/plain-line-reporter.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // Long: the machine may have much else to do. Nothing waits longer than it has to.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    projects: [
      { extends: true, test: { name: 'unit', include: unit } },
      {
        extends: true,
        test: {
          name: 'database',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...unit],
          // Starts PostgreSQL, for this project only.
          globalSetup: ['test/support/global-setup.ts'],
        },
      },
    ],
  },
});
