import { useSignal } from '@preact/signals';
import { MessageLink, StreamLink } from '../parts/links.js';
import { Answered, Empty } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { linkTo, place } from '../state/address.js';
import { useAnswer } from '../state/answer.js';
import { now, schema } from '../state/live.js';
import { session } from '../state/server.js';
import { relative, whole } from '../text/format.js';
import { discardLetters, retryLetters, type Which } from './acting.js';

interface Letter {
  readonly number: number;
  readonly messageId: string;
  readonly source: string;
  readonly type: string;
  readonly streamId: string | null;
  readonly attempts: number;
  readonly error: string;
  readonly diedAt: string;
}

interface Group {
  readonly lane: string;
  readonly type: string;
  readonly destination: string;
  readonly error: string | null;
  readonly letters: string;
  readonly lastDiedAt: string;
  readonly lastMessageId: string;
}

export function DeadLettersScreen() {
  const { query } = place.value;
  const [type, stream, before] = ['type', 'stream', 'before'].map((name) => query.get(name) ?? '') as [
    string,
    string,
    string,
  ];
  const list = useAnswer<{ letters: readonly Letter[] }>('dead-letters', {
    schema: schema.value,
    type,
    stream,
    before,
  });
  const isAll = type === '' && stream === '';
  const groups = useAnswer<{ groups: readonly Group[] }>(isAll ? 'dead-letter-groups' : undefined, {
    schema: schema.value,
  });
  const again = () => {
    list.again();
    groups.again();
  };
  return (
    <>
      <p class="bar">
        {!isAll && (
          <>
            <span>
              Of {type !== '' ? 'type' : 'stream'} <b>{type || stream}</b>
            </span>
            <a href={linkTo(schema.value, 'dead-letters')}>Show all</a>
            <Buttons which={type !== '' ? { type } : { stream }} again={again} suffix=" all of them" />
          </>
        )}
        <button type="button" onClick={again}>
          Refresh
        </button>
        {session.value?.mayAct === false && <span class="badge">read-only</span>}
      </p>
      {isAll && (
        <Answered answer={groups}>
          {({ groups: found }) =>
            found.length > 0 && (
              <>
                <h2>By type and error</h2>
                <Table
                  label="Groups of dead letters"
                  columns={groupColumns(again)}
                  rows={found}
                  keyOf={(each) => `${each.lane} ${each.type} ${each.destination} ${each.error}`}
                />
              </>
            )
          }
        </Answered>
      )}
      <Answered answer={list}>
        {({ letters }) => <Letters letters={letters} again={again} query={{ type, stream }} />}
      </Answered>
    </>
  );
}

const groupColumns = (again: () => void): readonly Column<Group>[] => [
  {
    name: 'Type',
    cell: ({ type }) => <a href={linkTo(schema.value, 'dead-letters', '', { type })}>{type}</a>,
  },
  { name: 'Lane', cell: ({ lane }) => lane },
  { name: 'Letters', isNumber: true, cell: ({ letters }) => whole(letters) },
  { name: 'Last', cell: ({ lastDiedAt }) => relative(lastDiedAt, now.value) },
  { name: 'Error', cell: ({ error }) => <span class="error">{error}</span> },
  { name: 'Act', cell: ({ type }) => <Buttons which={{ type }} again={again} suffix=" type" /> },
];

function Buttons({ which, again, suffix = '' }: { which: Which; again: () => void; suffix?: string }) {
  if (!session.value?.mayAct) return null;
  const run = (act: (which: Which) => Promise<boolean>) => () =>
    void act(which).then((isDone) => {
      if (isDone) again();
    });
  return (
    <span class="buttons">
      <button type="button" onClick={run(retryLetters)}>
        Retry{suffix}
      </button>
      <button type="button" class="danger" onClick={run(discardLetters)}>
        Discard{suffix}
      </button>
    </span>
  );
}

interface LettersProps {
  readonly letters: readonly Letter[];
  readonly again: () => void;
  readonly query: Record<string, string>;
}

function Letters({ letters, again, query }: LettersProps) {
  const chosen = useSignal<ReadonlySet<string>>(new Set());
  if (letters.length === 0) return <Empty>There are no dead letters here. Nothing was given up.</Empty>;
  const ids = letters.map(({ messageId }) => messageId);
  const picked = ids.filter((id) => chosen.value.has(id));
  const toggle = (id: string) => {
    const next = new Set(chosen.value);
    if (!next.delete(id)) next.add(id);
    chosen.value = next;
  };
  const box: Column<Letter> = {
    name: 'Choose',
    cell: ({ messageId, type }) => (
      <input
        type="checkbox"
        aria-label={`Choose ${type} ${messageId}`}
        checked={chosen.value.has(messageId)}
        onChange={() => toggle(messageId)}
      />
    ),
  };
  return (
    <>
      <h2>Newest first</h2>
      {session.value?.mayAct && (
        <p class="bar">
          <label>
            <input
              type="checkbox"
              checked={picked.length === ids.length}
              onChange={() => (chosen.value = new Set(picked.length === ids.length ? [] : ids))}
            />{' '}
            all {whole(ids.length)} of this page
          </label>
          {picked.length > 0 && (
            <Buttons which={{ ids: picked }} again={again} suffix={` ${picked.length} chosen`} />
          )}
        </p>
      )}
      <Table
        label="Dead letters"
        columns={session.value?.mayAct ? [box, ...letterColumns] : letterColumns}
        rows={letters}
        keyOf={({ number }) => String(number)}
      />
      {letters.length === 100 && (
        <p class="bar">
          <a
            href={linkTo(schema.value, 'dead-letters', '', {
              ...query,
              before: String(letters.at(-1)?.number),
            })}
          >
            Older
          </a>
        </p>
      )}
    </>
  );
}

const letterColumns: readonly Column<Letter>[] = [
  { name: 'Message', cell: ({ messageId }) => <MessageLink id={messageId} /> },
  { name: 'Type', cell: ({ type }) => type },
  { name: 'Lane', cell: ({ source }) => source },
  { name: 'Stream', cell: ({ streamId }) => streamId && <StreamLink id={streamId} /> },
  { name: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts },
  { name: 'Given up', cell: ({ diedAt }) => relative(diedAt, now.value) },
  { name: 'Error', cell: ({ error }) => <span class="error">{error}</span> },
];
