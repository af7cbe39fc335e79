import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { WorkItem } from '../../src/coordination.js';
import type { Queryable } from '../../src/database/index.js';
import { defineEvent, FinalError, type RetryPolicy, receptor } from '../../src/index.js';
import { FailureDecisions } from '../../src/work/handle/decide-failure.js';
import { ReceptorError, UnfinishedReceptors } from '../../src/work/handle/receptor-error.js';
import { RetryPolicies } from '../../src/work/handle/retry-policies.js';

const Event = defineEvent('Event', { schema: z.object({}) });
const named = (name: string, retry: Partial<RetryPolicy> = {}) =>
  receptor(Event, { name, retry: { jitter: 0, ...retry } }, () => {});
const mail = named('mail', { attempts: 3, firstDelaySeconds: 10 });
const print = named('print', { firstDelaySeconds: 2 });
const item = { source: 'inbox', messageId: 'm', eventType: 'Event', attempts: 4 } as WorkItem;

const failedAt = (each: typeof mail, attempt: number, cause: unknown = `${each.name} broke`) => ({
  receptor: each,
  attempt,
  cause,
  isFinal: false,
  tookSeconds: 0.5,
});
const before = (each: typeof mail, failures: number, inMs = 0) => ({
  receptor: each,
  failures,
  error: `${each.name} broke before`,
  dueAt: performance.now() + inMs,
});

function decide(thrown: unknown) {
  const told: object[] = [];
  const policies = new RetryPolicies<Queryable>('test', {});
  for (const each of [mail, print]) policies.add(each);
  const decisions = new FailureDecisions<Queryable>({
    policies,
    refusalOf: () => undefined,
    onTooNew: () => told.push({ on: 'too new' }),
    onRetry: (attempt) => told.push({ on: 'retry', ...attempt }),
    onGivenUp: (attempt) => told.push({ on: 'dead letter', ...attempt }),
    onWait: (seconds) => told.push({ on: 'wait', seconds: Math.round(seconds) }),
  });
  const { inboxFailures, receptorFailures } = decisions.report(item, thrown);
  return { message: inboxFailures?.[0], receptors: receptorFailures, told };
}

const unfinished = (
  failed: ReturnType<typeof failedAt>[],
  waiting: ReturnType<typeof before>[] = [],
  givenUp: ReturnType<typeof before>[] = [],
) => decide(new UnfinishedReceptors<Queryable>(failed, { waiting, givenUp }));

describe('A message with several receptors of which two failed', () => {
  it('a message is retried when the first of its failed receptors is due, each by its own policy', () => {
    const { message, receptors, told } = unfinished([failedAt(mail, 1), failedAt(print, 2)]);
    expect(message).toEqual({
      messageId: 'm',
      completedStatus: 0,
      attempt: 5,
      error: '2 receptors: mail, print\nmail: mail broke\nprint: print broke',
      retryAfterSeconds: 4,
    });
    const report = { eventId: 'm', status: 0, tookSeconds: 0.5 };
    expect(receptors).toEqual([
      { ...report, receptorName: 'mail', attempt: 1, error: 'mail broke', retryAfterSeconds: 10 },
      { ...report, receptorName: 'print', attempt: 2, error: 'print broke', retryAfterSeconds: 4 },
    ]);
    expect(told).toMatchObject([
      { on: 'retry', receptor: 'mail', attempt: 1, retryAfterSeconds: 10 },
      { on: 'retry', receptor: 'print', attempt: 2, retryAfterSeconds: 4 },
      { on: 'wait', seconds: 4 },
    ]);
  });

  it('a message goes on with one receptor when the other is given up', () => {
    const { message, receptors, told } = unfinished([failedAt(mail, 3), failedAt(print, 1)]);
    expect(message).toMatchObject({ retryAfterSeconds: 2 });
    expect(receptors).toMatchObject([{ receptorName: 'mail', givenUp: true }, { retryAfterSeconds: 2 }]);
    expect(told[0]).toMatchObject({ on: 'retry', receptor: 'mail', attempt: 3 });
    expect(told[0]).not.toHaveProperty('retryAfterSeconds');
  });

  it('a message becomes a dead letter that names both receptors when both are given up', () => {
    const { message, receptors, told } = unfinished([
      failedAt(mail, 3),
      failedAt(print, 1, new FinalError('no printer')),
    ]);
    expect(message).toMatchObject({
      deadLetter: true,
      error: expect.stringMatching(
        /^2 receptors: mail, print\nmail: mail broke\nprint: FinalError: no printer/,
      ),
    });
    expect(receptors).toMatchObject([{ givenUp: true }, { givenUp: true }]);
    expect(told).toMatchObject([{ on: 'dead letter', attempt: 5 }]);
    expect(told[0]).not.toHaveProperty('receptor');
  });
});

describe('A message with a receptor that waits', () => {
  it('a message in whose run nothing failed is retried when its waiting receptor is due, and no attempt is counted', () => {
    const { message, receptors, told } = unfinished([], [before(mail, 1, 7_000)]);
    expect(message).toMatchObject({ counted: false, attempt: 5, error: 'mail: mail broke before' });
    expect(message?.retryAfterSeconds).toBeCloseTo(7, 0);
    expect(receptors).toEqual([]);
    expect(told).toEqual([{ on: 'wait', seconds: 7 }]);
  });

  it('a message is retried for its waiting receptor when that one is due before the one that failed', () => {
    const { message } = unfinished([failedAt(mail, 1)], [before(print, 1, 3_000)]);
    expect(message?.retryAfterSeconds).toBeCloseTo(3, 0);
    expect(message).not.toHaveProperty('counted');
  });

  it('a message is retried at once when the time of its waiting receptor came while the others ran', () => {
    expect(unfinished([], [before(mail, 1, -5_000)]).message?.retryAfterSeconds).toBe(0);
  });
});

describe('A message whose last receptor to run is done', () => {
  it('a message becomes a dead letter, without another attempt, when its missing receptor was given up before', () => {
    const { message, told } = unfinished([], [], [before(mail, 3)]);
    expect(message).toMatchObject({ deadLetter: true, counted: false, error: 'mail: mail broke before' });
    expect(told).toMatchObject([{ on: 'dead letter', receptor: 'mail', attempt: 3 }]);
  });
});

describe('A message whose receptors could not be looked up', () => {
  it('a message whose receptors could not be looked up is retried by the policy of the service', () => {
    const { message, receptors, told } = decide(new ReceptorError<Queryable>(undefined, 'no answer', false));
    expect(message).toMatchObject({ error: 'no answer', attempt: 5 });
    expect(receptors).toBeUndefined();
    expect(told[0]).not.toHaveProperty('receptor');
  });
});
