// Messages and services for the tests of limits.
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { defineCommand, type ReceptorOptions, receptor } from '../../../src/index.js';
import type { Judge } from './judge.js';

export const Import = defineCommand('Import', {
  schema: z.object({ tenant: z.string().default(''), n: z.number(), ms: z.number().default(20) }),
});

export const InOrder = defineCommand('InOrder', {
  schema: z.object({ tenant: z.string().default(''), n: z.number(), ms: z.number().default(5) }),
  stream: ({ tenant }) => `stream-${tenant}`,
});

export const Quick = defineCommand('Quick', { schema: z.object({ n: z.number() }) });

/** A receptor of a message that takes as long as the message says, under the eyes of a judge. */
export const slow = (
  definition: typeof Import,
  judge: Judge,
  options: ReceptorOptions<false, { tenant: string; n: number }>,
  done: number[] = [],
) =>
  receptor(definition, { transaction: false, ...options }, async ({ tenant, n, ms }, { signal }) => {
    await judge.watch(options.key === undefined ? '' : tenant, () => pause(ms, undefined, { signal }));
    done.push(n);
  });

export const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);
