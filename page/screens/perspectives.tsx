import { State } from '../parts/links.js';
import { Answered, Empty } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { useAnswer } from '../state/answer.js';
import { schema } from '../state/live.js';
import { duration, rate, whole } from '../text/format.js';

interface Perspective {
  readonly name: string;
  readonly version: number;
  readonly build: number;
  readonly state: string;
  readonly is_paused: boolean;
  readonly lag_events: number;
  readonly lag_seconds: number | null;
  readonly rate: number;
  readonly seconds_left: number | null;
  readonly held: number;
  readonly cause: string | null;
}

const columns: readonly Column<Perspective>[] = [
  {
    name: 'Perspective',
    cell: ({ name, version, build }) => `${name}@${version}${build === 1 ? '' : `.${build}`}`,
  },
  { name: 'State', cell: ({ state, is_paused: isPaused }) => <State name={isPaused ? 'paused' : state} /> },
  { name: 'Events behind', isNumber: true, cell: ({ lag_events: lag }) => whole(lag) },
  { name: 'Time behind', cell: ({ lag_seconds: lag }) => (lag === null ? '–' : duration(lag * 1000)) },
  { name: 'Per second', isNumber: true, cell: ({ rate: each }) => rate(each) },
  { name: 'Left', cell: ({ seconds_left: left }) => (left === null ? '–' : duration(left * 1000)) },
  { name: 'Held', isNumber: true, cell: ({ held }) => whole(held) },
  { name: 'Why', cell: ({ cause }) => cause },
];

export function PerspectivesScreen() {
  const answer = useAnswer<{ perspectives: readonly Perspective[] }>('perspectives', {
    schema: schema.value,
  });
  return (
    <>
      <p class="bar">
        <button type="button" onClick={answer.again}>
          Refresh
        </button>
      </p>
      <Answered answer={answer}>
        {({ perspectives }) =>
          perspectives.length === 0 ? (
            <Empty>This service has no perspectives.</Empty>
          ) : (
            <Table
              label="Perspectives"
              columns={columns}
              rows={perspectives}
              keyOf={({ name, version, build }) => `${name}@${version}.${build}`}
            />
          )
        }
      </Answered>
    </>
  );
}
