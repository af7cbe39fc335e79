// One message per call, as in a service with little load: each call completes the previous message and stores
// the next, against a bare insert and a bare delete of one row, each its own transaction.

import type { Finding, Question } from '../question.js';
import { againstTheFloor } from './full-cycle.js';

export const oneMessage: Question = {
  name: 'one-message',
  asks: 'one message per call, against insert + delete of one row',
  async run(context) {
    const findings: Finding[] = [];
    for (const streams of [100, 'own'] as const) {
      findings.push(await againstTheFloor(context, { batchSize: 1, streams }, 1.0));
    }
    return findings;
  },
};
