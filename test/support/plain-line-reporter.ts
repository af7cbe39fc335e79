// Ends every run with one plain line, `N passed, N failed, N skipped`, that any tool can read. Before it, one line for each
// transport that was not tried because its broker is missing here, and for each test that passed only on its second try.
// A file that cannot be loaded and an error outside any test count as failed: the line never looks better than the run.
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node';
import { isNotTried } from './brokers/not-tried.js';

// What must always hold has no second try, and where several tests need one, something is wrong.
const mustHold = /\/test\/(properties|races)\//;
const fewestThatFail = 3;

export default class PlainLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const untried = new Set<string>();
    const unsteady: TestCase[] = [];
    const count = { passed: 0, failed: unhandledErrors.length, skipped: 0, pending: 0 };
    for (const module of modules) {
      count.failed += module.errors().length;
      for (const suite of module.children.allSuites()) count.failed += suite.errors().length;
      for (const test of module.children.allTests()) {
        const result = test.result();
        count[result.state] += 1;
        // A test that asks for more tries itself says why where it does.
        if (test.diagnostic()?.flaky && test.options.retry === 1) unsteady.push(test);
        if (result.state === 'skipped' && isNotTried(result.note)) untried.add(result.note);
      }
    }
    // A test without a result was cut off.
    const failed = count.failed + count.pending;
    for (const test of unsteady) {
      const first = test.result().errors?.[0]?.message ?? 'no message';
      process.stdout.write(
        `Unsteady: ${test.module.relativeModuleId} > ${test.fullName}\n  failed at first: ${first}\n`,
      );
    }
    if (unsteady.length >= fewestThatFail || unsteady.some((test) => mustHold.test(test.module.moduleId))) {
      process.stdout.write(
        'Unsteady tests fail this run: there are several, or one of what must always hold.\n',
      );
      process.exitCode = 1;
    }
    for (const reason of untried) process.stdout.write(`${reason}\n`);
    process.stdout.write(`${count.passed} passed, ${failed} failed, ${count.skipped} skipped\n`);
  }
}
