// Live updates of one schema, which can be paused, and pause by themselves while nobody sees the page.
import { computed, effect, signal } from '@preact/signals';
import type { Overview } from '../../src/dashboard/reads/overview.js';
import type { Point, Sample } from '../../src/dashboard/sampler.js';
import { place } from './address.js';
import { openSession, session, urlOf } from './server.js';

export type { InstanceSample, LaneSample, LoadCell } from '../../src/dashboard/reads/overview.js';

const mostPoints = 900;

export const isPaused = signal(false);
const isHidden = signal(document.hidden);
export const overview = signal<Overview | undefined>(undefined);
export const points = signal<readonly Point[]>([]);

export const liveError = signal<string | undefined>(undefined);
export const connection = signal<'connecting' | 'live' | 'lost'>('connecting');

let clockOffsetMs = 0;
/** The time of the database, by this machine's clock and what the two differed at the last sample. Whoever reads it is drawn with each sample. */
export const now = {
  get value(): number {
    void overview.value;
    return Date.now() + clockOffsetMs;
  },
};

export const schema = computed(() => {
  const known = session.value?.schemas ?? [];
  return known.includes(place.value.schema) ? place.value.schema : (known[0] ?? '');
});
const watchesLoad = computed(() => place.value.screen === 'partitions');

document.addEventListener('visibilitychange', () => {
  isHidden.value = document.hidden;
});

let shown = '';
effect(() => {
  if (shown === schema.value) return;
  shown = schema.value;
  overview.value = undefined;
  points.value = [];
});

effect(() => {
  if (schema.value === '' || isPaused.value || isHidden.value) return;
  const source = new EventSource(
    urlOf('live', { schema: schema.value, ...(watchesLoad.value ? { load: '1' } : {}) }),
  );
  connection.value = 'connecting';
  source.addEventListener('past', ({ data }) => {
    connection.value = 'live';
    points.value = JSON.parse(data) as Point[];
  });
  source.addEventListener('sample', ({ data }) => take(JSON.parse(data) as Sample));
  source.addEventListener('error', () => {
    connection.value = 'lost';
    // It tries again by itself, unless it was refused: then the session may be over.
    if (source.readyState === EventSource.CLOSED) void openSession();
  });
  return () => source.close();
});

function take(sample: Sample): void {
  if ('error' in sample) {
    liveError.value = sample.error;
    return;
  }
  liveError.value = undefined;
  clockOffsetMs = Date.parse(sample.overview.at) - Date.now();
  overview.value = sample.overview;
  if (points.peek().at(-1)?.at !== sample.point.at)
    points.value = [...points.peek(), sample.point].slice(-mostPoints);
}
