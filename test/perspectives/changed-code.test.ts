import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Queryable } from '../../src/database/index.js';
import { type Logger, perspective, perspectiveFor } from '../../src/index.js';
import { silentLogger } from '../../src/logger.js';
import { OrderCancelled, OrderPaid, OrderPlaced, paid, placed } from '../events/shop.js';
import { service } from '../runtime/service.js';
import { createTestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { holdsIn, retryNow } from './support/holds.js';
import { rowsOf } from './support/orders.js';

const model = z.object({ steps: z.array(z.string()) });
const before = perspective('steps', { model }).starts(OrderPlaced, () => ({ steps: ['placed'] }));
const after = before.on(OrderPaid, ({ steps }) => ({ steps: [...steps, 'paid'] }));

describe('Code of a perspective that has changed under the same version', () => {
  it.each([false, true])(
    'older code holds the stream of an event that only newer code knows, and newer code applies it (inline: %s)',
    async (inline) => {
      await using db = await createTestDatabase();
      const old = perspective('steps', { model, inline }).starts(OrderPlaced, () => ({ steps: ['placed'] }));
      const newer = old.on(OrderPaid, ({ steps }) => ({ steps: [...steps, 'paid'] }));
      const still = newer.ends(OrderCancelled);
      await using older = service(db, { perspectives: [old] });
      await older.start();
      await using first = service(db, { perspectives: [still] });
      await first.start();
      await first.stop();
      await older.events.append([placed('a'), paid('a')]);
      await older.events.append(placed('b'));
      await eventually(async () => {
        expect(await rowsOf(db, 'steps')).toMatchObject([
          { version: '1', data: { steps: ['placed'] } },
          { version: '1', data: { steps: ['placed'] } },
        ]);
        expect(await holdsIn(db)).toMatchObject([{ failed: 2, error: expect.stringContaining('OrderPaid') }]);
      });
      await older.stop();
      await using next = service(db, { perspectives: [still] });
      await next.start();
      await retryNow(db);
      await eventually(async () => expect(await holdsIn(db)).toEqual([]));
      const rows = await rowsOf<{ data: unknown }>(db, 'steps');
      expect(rows.map(({ data }) => data)).toContainEqual({ steps: ['placed', 'paid'] });
    },
  );

  it('older code of a custom perspective holds the stream of an event that only newer code knows', async () => {
    await using db = await createTestDatabase();
    const old = perspectiveFor<Queryable>()('noted').on(OrderPlaced, () => {});
    await using older = service(db, { perspectives: [old] });
    await older.start();
    await using newer = service(db, { perspectives: [old.on(OrderPaid, () => {})] });
    await newer.start();
    await newer.stop();
    await older.events.append([placed('a'), paid('a')]);
    await eventually(async () =>
      expect(await holdsIn(db)).toMatchObject([{ failed: 2, error: expect.stringContaining('OrderPaid') }]),
    );
  });

  it('a definition that changed without its version is warned about, and what it held is tried again', async () => {
    await using db = await createTestDatabase();
    const warnings: string[] = [];
    const logger: Logger = {
      ...silentLogger,
      warn: (_: object, text?: string) => void warnings.push(text ?? ''),
    };
    const failing = before.on(OrderPaid, () => {
      throw new Error('not written yet');
    });
    await using first = service(db, { perspectives: [failing] });
    await first.start();
    await first.events.append([placed('a'), paid('a')]);
    await eventually(async () => expect(await holdsIn(db)).toHaveLength(1));
    await first.stop();
    await db.pool.query('update wh_perspective_checkpoints set retry_at = null');
    await using same = service(db, { perspectives: [failing], logger });
    await same.start();
    await same.stop();
    expect(warnings).toEqual([]);
    await using mended = service(db, { perspectives: [after], logger });
    await mended.start();
    expect(warnings).toEqual(['steps has changed and its version has not']);
    await eventually(async () =>
      expect(await rowsOf(db, 'steps')).toMatchObject([
        { version: '2', data: { steps: ['placed', 'paid'] } },
      ]),
    );
    expect(await holdsIn(db)).toEqual([]);
  });
});
