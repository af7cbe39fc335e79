import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineCommand, type Envelope, type ReceptorContext, receptor } from '../../src/index.js';
import { LazySignal } from '../../src/lazy-signal.js';
import { runHandler } from '../../src/work/handle/run-handler.js';

const Charge = defineCommand('Charge', { schema: z.object({}) });

/** Runs the handler as a message without a transaction has it run. */
function run(
  handler: (payload: object, ctx: ReceptorContext<undefined>) => Promise<void>,
  abort: LazySignal,
) {
  const envelope = { payload: {} } as Envelope;
  const none = () => {
    throw new Error('nothing is sent here');
  };
  const handling = { envelope, tx: undefined, attempt: 1, isLastAttempt: false, abort };
  const made = receptor(Charge, { transaction: false }, handler);
  return runHandler(made as never, { ...handling, dispatcher: none, events: { continuing: none } });
}

describe('The context of a handler', () => {
  it('ctx.signal that is first read after the abort is aborted with the reason', async () => {
    const abort = new LazySignal();
    let seen: unknown;
    await run(async (_, ctx) => {
      abort.abort('the lease is lost');
      seen = ctx.signal.reason;
    }, abort);
    expect(seen).toBe('the lease is lost');
  });

  it('a copy of ctx, and an object that inherits from it, have the signal', async () => {
    const abort = new LazySignal();
    const seen: AbortSignal[] = [];
    await run(async (_, ctx) => {
      seen.push({ ...ctx }.signal, (Object.create(ctx) as typeof ctx).signal);
    }, abort);
    expect(seen).toEqual([abort.signal, abort.signal]);
    expect(seen[0]).toBe(abort.signal);
  });
});
