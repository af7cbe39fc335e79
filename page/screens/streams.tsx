import { MessageLink, State, StreamLink } from '../parts/links.js';
import { Answered, Empty } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { goTo, place } from '../state/address.js';
import { useAnswer } from '../state/answer.js';
import { now, overview, schema } from '../state/live.js';
import { depthOf, relative, shortId } from '../text/format.js';

export interface StreamRow {
  readonly lane: 'outbox' | 'inbox';
  readonly streamId: string;
  readonly partition: number;
  readonly state: string;
  readonly dueAt: string | null;
  readonly heldBy: string | null;
  readonly leaseExpiry: string | null;
  readonly waitsFor: string | null;
  readonly firstMessageId: string | null;
  readonly firstType: string | null;
  readonly firstAttempts: number | null;
  readonly firstError: string | null;
  readonly depth: string;
}

function Holder({ id }: { id: string }) {
  const found = overview.value?.instances.find(({ instanceId }) => instanceId === id);
  return <span title={id}>{found === undefined ? shortId(id) : `${found.host} ${found.processId}`}</span>;
}

/** What a stream waits for that has the name of a handler. */
const waitingAt: Readonly<Record<string, string>> = {
  'no-handler': 'no handler:',
  limited: 'at the limit of',
  paused: 'paused:',
};

export const streamColumns = (isExact: boolean): readonly Column<StreamRow>[] => [
  { name: 'Stream', cell: ({ streamId }) => <StreamLink id={streamId} /> },
  { name: 'Lane', cell: ({ lane }) => lane },
  { name: 'State', cell: ({ state }) => <State name={state} /> },
  { name: 'Since or until', cell: ({ dueAt, leaseExpiry }) => relative(dueAt ?? leaseExpiry, now.value) },
  { name: 'Depth', isNumber: true, cell: ({ depth }) => depthOf(depth, isExact) },
  { name: 'First', cell: ({ firstMessageId }) => firstMessageId && <MessageLink id={firstMessageId} /> },
  { name: 'Type', cell: ({ firstType }) => firstType },
  { name: 'Failed', isNumber: true, cell: ({ firstAttempts }) => firstAttempts },
  {
    name: 'Why',
    cell: ({ state, waitsFor, firstError, heldBy }) => {
      if (waitsFor !== null)
        return `${waitingAt[state] ?? 'waits for'} ${waitsFor.replace('\u001f', ' for the key ')}`;
      if (firstError) return <span class="error">{firstError}</span>;
      return heldBy && <Holder id={heldBy} />;
    },
  },
];

export function StreamsScreen() {
  const lane = place.value.query.get('lane') ?? '';
  const order = place.value.query.get('order') ?? 'waiting';
  const answer = useAnswer<{ streams: readonly StreamRow[] }>('streams', {
    schema: schema.value,
    lane,
    order,
  });
  const choose = (change: Record<string, string>) =>
    goTo(schema.value, 'streams', '', { lane, order, ...change });
  return (
    <>
      <p class="bar">
        <label>
          Order{' '}
          <select value={order} onChange={({ currentTarget }) => choose({ order: currentTarget.value })}>
            <option value="waiting">longest waiting first</option>
            <option value="deepest">deepest first (counts all)</option>
          </select>
        </label>
        <label>
          Lane{' '}
          <select value={lane} onChange={({ currentTarget }) => choose({ lane: currentTarget.value })}>
            <option value="">both</option>
            <option value="inbox">inbox</option>
            <option value="outbox">outbox</option>
          </select>
        </label>
        <button type="button" onClick={answer.again}>
          Refresh
        </button>
      </p>
      <Answered answer={answer}>
        {({ streams }) =>
          streams.length === 0 ? (
            <Empty>No stream has unfinished work.</Empty>
          ) : (
            <Table
              label="Streams"
              columns={streamColumns(order === 'deepest')}
              rows={streams}
              keyOf={({ lane: of, streamId }) => `${of} ${streamId}`}
            />
          )
        }
      </Answered>
    </>
  );
}
