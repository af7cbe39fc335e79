// The partitions as a heat map: a row for each owner, a cell for each hundredth of the partitions.
import { signal } from '@preact/signals';
import { Empty, Failed, Loading } from '../parts/states.js';
import { type InstanceSample, type LoadCell, liveError, now, overview } from '../state/live.js';
import { duration, shortId, whole } from '../text/format.js';

const buckets = 100;
/** From here on a cell is as strong as it gets: streams, and milliseconds that the oldest of them waits. */
const deepest = 1_000;
const oldestMs = 60_000;

const by = signal<'depth' | 'age'>('depth');

export function PartitionsScreen() {
  const load = overview.value?.load ?? undefined;
  if (overview.value === undefined || load === undefined) {
    return liveError.value === undefined ? <Loading /> : <Failed error={liveError.value} />;
  }
  const { instances } = overview.value;
  return (
    <>
      <p class="bar">
        <span>Colour by</span>
        {(['depth', 'age'] as const).map((name) => (
          <button key={name} type="button" aria-pressed={by.value === name} onClick={() => (by.value = name)}>
            {name}
          </button>
        ))}
        <span class="muted">
          Each cell is a hundredth of the partitions with one owner. Faint: none; strong:{' '}
          {by.value === 'depth'
            ? `${whole(deepest)} streams or more`
            : `waiting for ${duration(oldestMs)} or longer`}
          .
        </span>
      </p>
      {(['inbox', 'outbox'] as const).map((lane) => (
        <Lane key={lane} lane={lane} instances={instances} load={load.filter((cell) => cell.lane === lane)} />
      ))}
    </>
  );
}

interface LaneProps {
  readonly lane: 'outbox' | 'inbox';
  readonly instances: readonly InstanceSample[];
  readonly load: readonly LoadCell[];
}

function Lane({ lane, instances, load }: LaneProps) {
  const owners = instances.filter(
    (each) => each.isStale || (lane === 'inbox' ? each.inboxShare : each.outboxShare) !== null,
  );
  const unowned = load.filter(({ owner }) => owner === null);
  return (
    <section class="heat" aria-label={`Partitions of the ${lane}`}>
      <h2>{lane}</h2>
      {owners.length === 0 && unowned.length === 0 && (
        <Empty>Nobody takes from the {lane}, and nothing waits in it.</Empty>
      )}
      {owners.map((owner) => (
        <Row
          key={owner.instanceId}
          name={`${owner.host} ${owner.processId}`}
          id={shortId(owner.instanceId)}
          isStale={owner.isStale}
          share={lane === 'inbox' ? owner.inboxShare : owner.outboxShare}
          cells={load.filter((cell) => cell.owner === owner.instanceId)}
        />
      ))}
      {unowned.length > 0 && <Row name="nobody" isStale={true} share={null} cells={unowned} />}
    </section>
  );
}

interface RowProps {
  readonly name: string;
  readonly id?: string;
  readonly isStale: boolean;
  readonly share: number | null;
  readonly cells: readonly LoadCell[];
}

function Row({ name, id, isStale, share, cells }: RowProps) {
  const byBucket = new Map(cells.map((cell) => [cell.bucket, cell]));
  const sum = (key: 'streams' | 'leased' | 'due' | 'scheduled') =>
    cells.reduce((all, cell) => all + cell[key], 0);
  const told = `${whole(sum('streams'))} ${sum('streams') === 1 ? 'stream' : 'streams'}: ${whole(sum('leased'))} running, ${whole(sum('due'))} could run, ${whole(sum('scheduled'))} wait for a time`;
  return (
    <div class={`owner ${isStale ? 'stale-row' : ''}`} data-test="owner">
      <div class="owner-name">
        <b>{name}</b> {id !== undefined && <span class="id muted">{id}</span>}{' '}
        {isStale ? (
          <span class="badge stale">stale</span>
        ) : (
          share !== null && <span>{Math.round(share * 100)} %</span>
        )}{' '}
        <span class="muted">{told}</span>
      </div>
      <div class="cells" role="img" aria-label={`${name}: ${told}`}>
        {Array.from({ length: buckets }, (_, bucket) => (
          <Cell key={bucket} bucket={bucket} cell={byBucket.get(bucket)} />
        ))}
      </div>
    </div>
  );
}

function Cell({ bucket, cell }: { bucket: number; cell: LoadCell | undefined }) {
  if (cell === undefined) return <i title={`${bucket}: nothing`} />;
  const age = cell.oldestDueAt === null ? 0 : Math.max(0, now.value - Date.parse(cell.oldestDueAt));
  const depth = Math.log1p(cell.streams) / Math.log1p(deepest);
  const part = by.value === 'depth' ? depth : age / oldestMs;
  const strength = Math.round(20 + Math.min(1, part) * 80); // also the least is seen
  const title = `${bucket}: ${whole(cell.streams)} streams, ${whole(cell.leased)} running, ${whole(cell.due)} could run${age > 0 ? `, oldest ${duration(age)}` : ''}`;
  return <i class="filled" title={title} style={{ '--strength': `${strength}%` }} />;
}
