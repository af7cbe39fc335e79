// What every transport has to do, tried through its interface alone.
// In: a way to make a broker with nothing in it, and what the transport lacks, with reasons. Out: tests.
// Called by the test file of each transport.
import { describe, expect, it } from 'vitest';
import { acknowledging } from './conformance/acknowledging.js';
import { closing } from './conformance/closing.js';
import { content } from './conformance/content.js';
import { names } from './conformance/names.js';
import { order } from './conformance/order.js';
import { outages } from './conformance/outages.js';
import { refusals } from './conformance/refusals.js';
import { routing } from './conformance/routing.js';
import { casesOf, runCase, type Trial } from './conformance/trial.js';
import { wire } from './conformance/wire.js';
import type { Lacking, TransportSubject } from './subject.js';

/** The cases by what they are about. */
export const sections: Readonly<Record<string, (trial: Trial) => void>> = {
  'who gets a message': routing,
  'what arrives': content,
  'what is on the wire': wire,
  'names of addresses and services': names,
  order,
  'messages that are refused': refusals,
  acknowledging,
  outages,
  'stopping and closing': closing,
};

/** Most cases wait. Those whose subjects share nothing, not even a database, may wait together. */
type Turns = 'one after the other' | 'side by side';

export function describeTransport(
  name: string,
  makeSubject: () => Promise<TransportSubject>,
  lacking: Lacking = {},
  turns: Turns = 'one after the other',
): void {
  const unexplained = new Set<string>();
  for (const [about, section] of Object.entries(sections)) {
    describe(`${name}: ${about}`, { concurrent: turns === 'side by side' }, () => {
      for (const each of casesOf(section)) {
        it(each.name, async (context) => {
          const result = await runCase(each, makeSubject, lacking);
          if (result.kind === 'passed') return;
          if (result.reason === undefined) unexplained.add(result.what);
          context.skip(result.reason ?? `the subject cannot stage it (${result.what}), and does not say why`);
        });
      }
    });
  }
  describe(`${name}: what was not tried`, () => {
    it('every case that was not tried has a reason', () => {
      // For each name: stage it in the subject, or say in `lacking` why it cannot be staged.
      expect([...unexplained]).toEqual([]);
    });
  });
}
