import { MessageLink } from '../parts/links.js';
import { Answered, Empty } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { linkTo, place } from '../state/address.js';
import { useAnswer } from '../state/answer.js';
import { now, schema } from '../state/live.js';
import { relative } from '../text/format.js';
import { Act, PauseButton, Pauses } from './act.js';
import { Explanation } from './explanation.js';
import { releaseStream } from './operating.js';
import { type StreamRow, streamColumns } from './streams.js';

export interface MessageRow {
  readonly keptIn: string;
  readonly messageId: string;
  readonly type: string;
  readonly target?: string;
  readonly attempts: number;
  readonly storedAt: string;
  readonly error: string | null;
}

export interface OneStream {
  readonly streamId: string;
  readonly lanes: readonly StreamRow[];
  readonly messages: readonly MessageRow[];
}

export const messageColumns: readonly Column<MessageRow>[] = [
  { name: 'Message', cell: ({ messageId }) => <MessageLink id={messageId} /> },
  { name: 'Type', cell: ({ type }) => type },
  { name: 'Kept in', cell: ({ keptIn }) => keptIn },
  { name: 'Failed', isNumber: true, cell: ({ attempts }) => attempts },
  { name: 'Stored', cell: ({ storedAt }) => relative(storedAt, now.value) },
  { name: 'Error', cell: ({ error }) => error && <span class="error">{error}</span> },
];

export function StreamScreen() {
  const { id } = place.value;
  const answer = useAnswer<OneStream>('stream', { schema: schema.value, id });
  return (
    <Answered answer={answer}>
      {(stream) => (
        <>
          <h2>
            Stream <span class="id">{stream.streamId}</span>
          </h2>
          <p class="bar">
            <button type="button" onClick={answer.again}>
              Refresh
            </button>
            <a href={linkTo(schema.value, 'dead-letters', '', { stream: stream.streamId })}>
              Its dead letters
            </a>
            {stream.lanes.some(({ heldBy }) => heldBy !== null) && (
              <Act run={() => releaseStream(stream.streamId)} again={answer.again} isDestructive>
                Release
              </Act>
            )}
            <PauseButton kind="stream" name={stream.streamId} again={answer.again} />
          </p>
          <Pauses only={({ kind, name }) => kind === 'stream' && name === stream.streamId} />
          <Explanation key={stream.lanes.map(({ state }) => state).join()} of={{ stream: stream.streamId }} />
          <StreamParts stream={stream} />
        </>
      )}
    </Answered>
  );
}

export function StreamParts({ stream }: { stream: OneStream }) {
  return (
    <>
      {stream.lanes.length > 0 && (
        <Table
          label="Lanes of the stream"
          columns={streamColumns(false)}
          rows={stream.lanes}
          keyOf={({ lane }) => lane}
        />
      )}
      {stream.messages.length === 0 ? (
        <Empty>Nothing of this stream waits. What is finished is not kept.</Empty>
      ) : (
        <>
          <h3>Its messages{stream.messages.length === 100 && ', the first 100'}</h3>
          <Table
            label="Messages of the stream"
            columns={messageColumns}
            rows={stream.messages}
            keyOf={({ messageId, keptIn }) => `${keptIn} ${messageId}`}
          />
        </>
      )}
    </>
  );
}
