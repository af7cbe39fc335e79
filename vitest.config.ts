import { configDefaults, defineConfig } from 'vitest/config';
import { unitTests } from './test/support/unit-tests.js';

const unit = unitTests(import.meta.dirname);

export default defineConfig({
  test: {
    reporters: ['default', './test/support/plain-line-reporter.ts'],
    pool: 'forks',
    maxWorkers: 3,
    // The files share loaded modules: to load them for each took half of the time of the unit tests, and a tenth of the others'.
    isolate: false,
    // In CI alone, and never without a word: see the reporter.
    retry: process.env.CI ? 1 : 0,
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
          // Journeys have a job of their own: vitest.clusters.config.ts.
          exclude: [...configDefaults.exclude, ...unit, 'test/journeys/**'],
          // Starts PostgreSQL, for this project only.
          globalSetup: ['test/support/global-setup.ts'],
        },
      },
    ],
  },
});
