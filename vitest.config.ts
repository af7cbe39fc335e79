import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts', 'src/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    reporters: ['default', './test/support/plain-line-reporter.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // Long: the machine may have much else to do. Nothing waits longer than it has to.
    testTimeout: 180_000,
    hookTimeout: 180_000,
  },
});
