// What holds inside a transaction of every library: in: a Subject, which runs work in a transaction of its library;
// out: the same tests for each. Called by one test file per library. The database is real, and so is the library.
import { describe } from 'vitest';
import { describeAppending } from './conformance-of-appending.js';
import { describeBatchCalls } from './conformance-of-batch-calls.js';
import { describePerspectives } from './conformance-of-perspectives.js';
import { describeRefusals } from './conformance-of-refusals.js';
import { describeSending } from './conformance-of-sending.js';
import type { Subject } from './subject.js';
import { World } from './world.js';

export function describeTransactions(subject: Subject): void {
  describe(`In a transaction of ${subject.name}`, () => {
    const world = new World(subject);
    describeSending(subject, world);
    describeBatchCalls(world);
    describeAppending(world);
    describePerspectives(world);
    describeRefusals(subject, world);
  });
}
