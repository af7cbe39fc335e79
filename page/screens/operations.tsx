// What is paused, and what operators have done. From here a type or the whole intake is paused.
import { useSignal } from '@preact/signals';
import { Answered, Empty } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { linkTo, place } from '../state/address.js';
import { useAnswer } from '../state/answer.js';
import { now, overview, schema } from '../state/live.js';
import { session } from '../state/server.js';
import { ago } from '../text/format.js';
import { Act, PauseButton, Pauses } from './act.js';
import { pause } from './operating.js';

interface Operation {
  readonly id: number;
  readonly at: string;
  readonly who: string;
  readonly operation: string;
  readonly target: string;
  readonly before: unknown;
  readonly role: string;
}

const columns: readonly Column<Operation>[] = [
  { name: 'When', cell: ({ at }) => <time title={at}>{ago(at, now.value)}</time> },
  { name: 'Who', cell: ({ who, role }) => <span title={`role ${role}`}>{who}</span> },
  { name: 'What', cell: ({ operation }) => operation },
  { name: 'To what', cell: ({ target }) => <Target text={target} /> },
  { name: 'Before', cell: ({ before }) => <Before value={before} /> },
];

/** `message 0192…` and `stream 7f3c…` lead there. */
function Target({ text }: { text: string }) {
  const [, kind, id] = /^(message|stream) ([0-9a-f-]{36})$/.exec(text) ?? [];
  return kind === undefined ? <span>{text}</span> : <a href={linkTo(schema.value, kind, id)}>{text}</a>;
}

function Before({ value }: { value: unknown }) {
  const text = value === null || value === undefined ? '' : JSON.stringify(value);
  if (text === '' || text === '{}') return <>–</>;
  if (text.length <= 80) return <code>{text}</code>;
  return (
    <details>
      <summary>show</summary>
      <pre>{JSON.stringify(value, null, 2)}</pre>
    </details>
  );
}

export function OperationsScreen() {
  const before = place.value.query.get('before') ?? '';
  const answer = useAnswer<{ operations: readonly Operation[] }>('operations', {
    schema: schema.value,
    before,
  });
  return (
    <>
      <p class="bar">
        <button type="button" onClick={answer.again}>
          Refresh
        </button>
        <PauseType again={answer.again} />
        <PauseButton kind="intake" name="" again={answer.again} />
        {session.value?.mayAct === false && <span class="badge">read-only</span>}
      </p>
      <Pauses />
      <Answered answer={answer}>
        {({ operations }) =>
          operations.length === 0 ? (
            <Empty>No operator has done anything.</Empty>
          ) : (
            <>
              <h2>What was done, the newest first</h2>
              <Table label="Operations" columns={columns} rows={operations} keyOf={({ id }) => String(id)} />
              {operations.length === 100 && (
                <p class="bar">
                  <a href={linkTo(schema.value, 'operations', '', { before: String(operations.at(-1)?.id) })}>
                    Older
                  </a>
                </p>
              )}
            </>
          )
        }
      </Answered>
    </>
  );
}

/** A type that somebody handles, from a list; or any other, typed in. */
function PauseType({ again }: { again: () => void }) {
  const type = useSignal('');
  if (!session.value?.mayAct) return null;
  const known = new Set(overview.value?.instances.flatMap(({ handlers }) => handlers ?? []) ?? []);
  return (
    <>
      <input
        aria-label="Type to pause"
        placeholder="type"
        list="types"
        autocomplete="off"
        value={type.value}
        onInput={({ currentTarget }) => (type.value = currentTarget.value)}
      />
      <datalist id="types">
        {[...known].map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {type.value.trim() !== '' && (
        <Act run={() => pause({ type: type.value.trim() })} again={again} isDestructive>
          Pause the type
        </Act>
      )}
    </>
  );
}
