// Ends every run with one plain line, `N passed, N failed, N skipped`, that any tool can read.
// A file that cannot be loaded and an error outside any test count as failed: the line never looks better than the run.
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

export default class PlainLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      count.failed += module.errors().length;
      for (const suite of module.children.allSuites()) count.failed += suite.errors().length;
      for (const test of module.children.allTests()) count[test.result().state] += 1;
    }
    // A test without a result was cut off.
    const failed = count.failed + count.pending;
    process.stdout.write(`${count.passed} passed, ${failed} failed, ${count.skipped} skipped\n`);
  }
}
