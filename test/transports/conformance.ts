// What every transport has to do, tried through its interface alone.
// In: a way to make a broker with nothing in it, and what the transport lacks, with reasons. Out: tests.
// Called by the test file of each transport.
import { describe } from 'vitest';
import { acknowledging } from './conformance/acknowledging.js';
import { closing } from './conformance/closing.js';
import { content } from './conformance/content.js';
import { order } from './conformance/order.js';
import { outages } from './conformance/outages.js';
import { refusals } from './conformance/refusals.js';
import { routing } from './conformance/routing.js';
import { trialOf } from './conformance/trial.js';
import type { Lacking, TransportSubject } from './subject.js';

export function describeTransport(
  name: string,
  makeSubject: () => Promise<TransportSubject>,
  lacking: Lacking = {},
): void {
  const trial = trialOf(makeSubject, lacking);
  describe(`${name}: who gets a message`, () => routing(trial));
  describe(`${name}: what arrives`, () => content(trial));
  describe(`${name}: order`, () => order(trial));
  describe(`${name}: messages that are refused`, () => refusals(trial));
  describe(`${name}: acknowledging`, () => acknowledging(trial));
  describe(`${name}: outages`, () => outages(trial));
  describe(`${name}: stopping and closing`, () => closing(trial));
}
