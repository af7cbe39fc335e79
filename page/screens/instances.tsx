import { Empty, Failed, Loading } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { type InstanceSample, liveError, now, overview } from '../state/live.js';
import { session } from '../state/server.js';
import { duration, relative, shortId, whole } from '../text/format.js';
import { Act } from './act.js';
import { releaseInstance } from './operating.js';

const share = (value: number | null) =>
  value === null ? '–' : `${(value * 100).toFixed(1).replace(/\.0$/, '')} %`;
const room = (value: number | null) => (value === 0 ? 'full' : whole(value));

const columns: readonly Column<InstanceSample>[] = [
  {
    name: 'Instance',
    cell: ({ instanceId }) => (
      <span title={instanceId} class="id">
        {shortId(instanceId)}
      </span>
    ),
  },
  {
    name: 'Service',
    cell: ({ service, version }) => (
      <>
        {service} <span class="muted">{version ?? '–'}</span>
      </>
    ),
  },
  { name: 'Host and process', cell: ({ host, processId }) => `${host} ${processId}` },
  {
    name: 'Heartbeat',
    cell: ({ isStale, hasJoined, lastHeartbeatAt }) => (
      <>
        <span class={`badge ${isStale ? 'stale' : 'alive'}`}>{isStale ? 'stale' : 'alive'}</span>{' '}
        {relative(lastHeartbeatAt, now.value)}
        {!hasJoined && ', only sends'}
      </>
    ),
  },
  { name: 'Last call', cell: ({ lastCallAt }) => relative(lastCallAt, now.value) },
  { name: 'Share', isNumber: true, cell: ({ inboxShare }) => share(inboxShare) },
  { name: 'Inbox room', isNumber: true, cell: ({ inboxRoom }) => room(inboxRoom) },
  { name: 'Outbox room', isNumber: true, cell: ({ outboxRoom }) => room(outboxRoom) },
  { name: 'Handled', isNumber: true, cell: ({ handled }) => whole(handled) },
  { name: 'Failed', isNumber: true, cell: ({ failed }) => whole(failed) },
  { name: 'Published', isNumber: true, cell: ({ published }) => whole(published) },
  { name: 'Up', cell: ({ startedAt }) => duration(now.value - Date.parse(startedAt)) },
  { name: 'Handlers', cell: ({ handlers }) => <Handlers names={handlers} /> },
];

const actColumn: Column<InstanceSample> = {
  name: 'Act',
  cell: ({ instanceId, host, processId, hasJoined }) =>
    hasJoined && (
      <Act run={() => releaseInstance(instanceId, `${host} ${processId}`)} isDestructive>
        Release
      </Act>
    ),
};

function Handlers({ names }: { names: readonly string[] | null }) {
  if (names === null) return <>all</>;
  return (
    <details>
      <summary>{whole(names.length)}</summary>
      <ul>
        {names.map((name) => (
          <li key={name}>{name}</li>
        ))}
      </ul>
    </details>
  );
}

export function InstancesScreen() {
  if (overview.value === undefined) {
    return liveError.value === undefined ? <Loading /> : <Failed error={liveError.value} />;
  }
  const { instances } = overview.value;
  if (instances.length === 0) return <Empty>No instance is running.</Empty>;
  return (
    <Table
      label="Instances"
      columns={session.value?.mayAct ? [...columns, actColumn] : columns}
      rows={instances}
      keyOf={({ instanceId }) => instanceId}
      classOf={({ isStale }) => (isStale ? 'stale-row' : undefined)}
    />
  );
}
