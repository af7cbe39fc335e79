import { Chart } from '../parts/chart.js';
import { Empty, Failed, Loading } from '../parts/states.js';
import { linkTo } from '../state/address.js';
import {
  type InstanceSample,
  type LaneSample,
  liveError,
  now,
  overview,
  points,
  schema,
} from '../state/live.js';
import { capped, duration, rate, relative, whole } from '../text/format.js';
import { Pauses } from './act.js';

export function OverviewScreen() {
  if (overview.value === undefined) {
    return liveError.value === undefined ? <Loading /> : <Failed error={liveError.value} />;
  }
  const { lanes, instances } = overview.value;
  const living = instances.filter(({ isStale, hasJoined }) => !isStale && hasJoined).length;
  const stale = instances.filter(({ isStale }) => isStale).length;
  return (
    <>
      <Pauses />
      <section class="tiles" aria-label="Lanes">
        <a class={`tile ${living === 0 ? 'bad' : ''}`} href={linkTo(schema.value, 'instances')}>
          <span>Instances alive</span>
          <b data-test="living">{whole(living)}</b>
          <small>{stale > 0 ? `${stale} stale` : 'none stale'}</small>
          {versionsOf(instances).map(([name, count]) => (
            <small key={name}>
              {name} × {count}
            </small>
          ))}
        </a>
        {lanes.toReversed().map((lane) => (
          <LaneTiles key={lane.lane} lane={lane} />
        ))}
      </section>
      <Charts />
      {instances.length === 0 && (
        <Empty>No instance is running. Start a service of this schema, and it is shown here.</Empty>
      )}
    </>
  );
}

/** Two versions side by side: a deployment is under way, or stuck. */
function versionsOf(instances: readonly InstanceSample[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const { service, version, isStale, hasJoined } of instances) {
    if (isStale || !hasJoined) continue;
    const name = `${service} with ${version ?? 'an older version'}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].slice(0, 4);
}

function LaneTiles({ lane }: { lane: LaneSample }) {
  const age = lane.oldestDueAt === null ? 0 : now.value - Date.parse(lane.oldestDueAt);
  return (
    <>
      <a
        class={`tile ${age > 30_000 ? 'bad' : ''}`}
        href={linkTo(schema.value, 'streams', '', { lane: lane.lane })}
      >
        <span>{lane.lane}: could run now</span>
        <b>{capped(lane.dueStreams)}</b>
        <small>
          {lane.oldestDueAt === null ? 'nothing waits' : `oldest ${duration(age)}`} ·{' '}
          {capped(lane.leasedStreams)} running
          {lane.unadmittedMessages > 0 && ` · ${capped(lane.unadmittedMessages)} new messages`}
        </small>
      </a>
      <a
        class={`tile ${lane.unhandledStreams > 0 ? 'bad' : ''}`}
        href={linkTo(schema.value, 'streams', '', { lane: lane.lane })}
      >
        <span>{lane.lane}: wait for a time</span>
        <b>{capped(lane.scheduledStreams)}</b>
        <small>
          {lane.nextScheduledAt === null
            ? 'no retry waits'
            : `next ${relative(lane.nextScheduledAt, now.value)}`}
          {lane.limitedStreams > 0 && ` · ${capped(lane.limitedStreams)} at a limit`}
          {lane.unhandledStreams > 0 && ` · ${capped(lane.unhandledStreams)} without a handler`}
          {lane.pausedStreams > 0 && ` · ${capped(lane.pausedStreams)} paused`}
        </small>
      </a>
      <a class={`tile ${lane.deadLetters > 0 ? 'bad' : ''}`} href={linkTo(schema.value, 'dead-letters')}>
        <span>{lane.lane}: dead letters</span>
        <b data-test={`dead-${lane.lane}`}>{capped(lane.deadLetters)}</b>
        <small>{lane.deadLetters > 0 ? 'given up: look at them' : 'none'}</small>
      </a>
    </>
  );
}

function Charts() {
  const all = points.value;
  const times = all.map(({ at }) => Date.parse(at) / 1000);
  const of = (lane: string, name: 'due' | 'ageSeconds') => all.map(({ lanes }) => lanes[lane]?.[name] ?? 0);
  return (
    <section class="charts" aria-label="Over time">
      <Chart
        title="Throughput, per second"
        times={times}
        format={rate}
        series={[
          { name: 'handled', colour: '--blue', values: all.map(({ handled }) => handled) },
          { name: 'published', colour: '--teal', values: all.map(({ published }) => published) },
          { name: 'failed', colour: '--red', values: all.map(({ failed }) => failed) },
        ]}
      />
      <Chart
        title="Backlog, streams that could run"
        times={times}
        format={whole}
        series={[
          { name: 'inbox', colour: '--blue', values: of('inbox', 'due') },
          { name: 'outbox', colour: '--teal', values: of('outbox', 'due') },
        ]}
      />
      <Chart
        title="Age of the oldest"
        times={times}
        format={(seconds) => duration(seconds * 1000)}
        series={[
          { name: 'inbox', colour: '--blue', values: of('inbox', 'ageSeconds') },
          { name: 'outbox', colour: '--teal', values: of('outbox', 'ageSeconds') },
        ]}
      />
    </section>
  );
}
