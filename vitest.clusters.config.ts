// npm run test:clusters: journeys over every transport, RabbitMQ and NATS as clusters of three. They take minutes;
// WHIZBANG_JOURNEYS=long makes them long.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    reporters: ['default', './test/support/plain-line-reporter.ts'],
    pool: 'forks',
    // All at the same time: they mostly wait for something to fail or to come back.
    maxWorkers: 5,
    testTimeout: 3_600_000,
    hookTimeout: 300_000,
    include: ['test/journeys/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
  },
});
