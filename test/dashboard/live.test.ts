// Live updates: one sampler, however many look on, which rests when nobody does.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Overview } from '../../src/dashboard/reads/overview.js';
import { pointOf, type Sample, Sampler } from '../../src/dashboard/sampler.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { instance } from '../support/work.js';
import { bearer, open } from './support/pages.js';

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
  await instance(db, 'a').call();
});
afterAll(() => db.drop());

/** Listens as a browser does. */
async function listen(page: ReturnType<typeof open>, query = '') {
  const stop = new AbortController();
  const request = new Request(`http://ops.example.com/api/live${query}`, {
    headers: bearer,
    signal: stop.signal,
  });
  const response = await page.fetch(request);
  const heard: { text: string } = { text: '' };
  void (async () => {
    const decoder = new TextDecoder();
    for await (const part of response.body as unknown as AsyncIterable<Uint8Array>)
      heard.text += decoder.decode(part);
  })().catch(() => {});
  return {
    response,
    heard,
    samples: () => heard.text.split('event: sample').length - 1,
    stop: () => stop.abort(),
  };
}

/** The pool of the database, with a count of what is asked for over it. */
function counted() {
  const count = { overviews: 0 };
  const pool = {
    connect: async () => {
      const client = await db.pool.connect();
      return {
        query: (text: string, values?: unknown[]) => {
          if (text.includes('wh_lane_status')) count.overviews++;
          return client.query(text, values as never);
        },
        release: (error?: Error | boolean) => client.release(error),
      };
    },
  };
  return { count, pool };
}

describe('Live updates', () => {
  it('twenty clients cost as many questions as one, and none ask when they have gone', async () => {
    const { count, pool } = counted();
    const page = open(db, { pool });
    const clients = await Promise.all(Array.from({ length: 20 }, () => listen(page)));
    await eventually(() => {
      for (const client of clients) expect(client.samples()).toBeGreaterThanOrEqual(2);
    });
    const most = Math.max(...clients.map((client) => client.samples()));
    expect(count.overviews).toBeLessThanOrEqual(most + 1);
    for (const client of clients) client.stop();
    await page.close();
    const late = await listen(page);
    expect(late.samples()).toBe(0);
  });

  it('live updates cannot be kept back by a proxy, and begin with the past', async () => {
    const page = open(db);
    const { response, heard, samples, stop } = await listen(page, '?load=1');
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    expect(response.headers.get('cache-control')).toContain('no-transform');
    await eventually(() => expect(samples()).toBe(1));
    expect(heard.text).toMatch(/^retry: 2000\nevent: past\ndata: \[\]\n\n/);
    expect(JSON.parse(/event: sample\ndata: (.*)\n/.exec(heard.text)?.[1] ?? '')).toMatchObject({
      overview: { load: [], instances: [{ isStale: false }] },
    });
    stop();
    await page.close();
  });

  it('a silent connection gets a comment every 15 seconds', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const page = open(db);
    const { heard, stop } = await listen(page);
    vi.advanceTimersByTime(15_000);
    vi.useRealTimers();
    await eventually(() => expect(heard.text).toContain(': still here\n\n'));
    stop();
    await page.close();
  });

  it('a schema that cannot be read is told to who looks on, and asked again', async () => {
    const page = open(db, { schemas: ['nowhere'] });
    const { heard, stop } = await listen(page);
    await eventually(() => expect(heard.text).toContain('"error":"The schema nowhere is not there'));
    stop();
    await page.close();
  });
});

const overview = (at: number, handled: string, over: Partial<Overview> = {}): Overview => ({
  at: new Date(at).toISOString(),
  pauses: [],
  lanes: [],
  instances: [{ instanceId: 'a', handled, failed: '0', published: '0' } as never],
  load: null,
  ...over,
});

describe('The sampler', () => {
  it('the sampler rests twenty times as long as it has worked, whoever comes', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    let reads = 0;
    const read = async () => {
      reads++;
      vi.setSystemTime(0);
      await vi.advanceTimersByTimeAsync(500); // so long does it take
      return overview(0, '0');
    };
    const sampler = new Sampler({ read, readLoad: async () => [], describe: String, everyMs: 2_000 });
    const taken: Sample[] = [];
    const watcher = () =>
      sampler.watch({ schema: 's', watchesLoad: false, take: (sample) => taken.push(sample) });
    watcher();
    await vi.advanceTimersByTimeAsync(0);
    expect([reads, taken.length]).toEqual([1, 1]);
    watcher();
    await vi.advanceTimersByTimeAsync(9_000);
    expect([reads, taken.length]).toEqual([1, 2]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(reads).toBe(2);
    sampler.close();
    vi.useRealTimers();
  });

  it('the heat map rests a hundred times as long as it took, and the last one is shown meanwhile', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    let reads = 0;
    const readLoad = async () => {
      vi.advanceTimersByTime(80); // so long does it take
      return [{ bucket: ++reads } as never];
    };
    const sampler = new Sampler({
      read: async () => overview(0, '0'),
      readLoad,
      describe: String,
      everyMs: 2_000,
    });
    const buckets: unknown[] = [];
    const take = (sample: Sample) =>
      void buckets.push('overview' in sample && sample.overview.load?.[0]?.bucket);
    sampler.watch({ schema: 's', watchesLoad: true, take });
    await vi.advanceTimersByTimeAsync(0);
    for (let step = 1; step <= 3; step++) await vi.advanceTimersByTimeAsync(2_000);
    expect([reads, ...buckets]).toEqual([1, 1, 1, 1, 1]);
    for (let step = 1; step <= 2; step++) await vi.advanceTimersByTimeAsync(2_000);
    expect([reads, buckets.at(-1)]).toEqual([2, 2]);
    sampler.close();
    vi.useRealTimers();
  });

  it('a point has rates by instance, so that one that ends or begins does not bend them', () => {
    const before = overview(0, '100');
    expect(pointOf(overview(2_000, '140'), before)).toMatchObject({ handled: 20 });
    const restarted = overview(2_000, '10', { instances: [{ instanceId: 'b', handled: '10' } as never] });
    expect(pointOf(restarted, before)).toMatchObject({ handled: 5 });
    expect(pointOf(before, undefined)).toMatchObject({ handled: 0 });
  });
});
