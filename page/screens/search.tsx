import { MessageLink, State } from '../parts/links.js';
import { Answered, Empty } from '../parts/states.js';
import { Table } from '../parts/table.js';
import { place } from '../state/address.js';
import { useAnswer } from '../state/answer.js';
import { schema } from '../state/live.js';
import { whole } from '../text/format.js';
import { type MessageRow, messageColumns, type OneStream, StreamParts } from './stream.js';

interface Found {
  readonly message: { readonly messageId: string; readonly state: string } | null;
  readonly stream: OneStream;
  readonly types: readonly MessageRow[];
  readonly searchedMessages: number;
}

export function SearchScreen() {
  const text = place.value.query.get('text') ?? '';
  const answer = useAnswer<Found>(text === '' ? undefined : 'search', { schema: schema.value, text });
  if (text === '') return <Empty>Type the id of a message, a type, or a stream into the search above.</Empty>;
  return (
    <Answered answer={answer}>
      {({ message, stream, types, searchedMessages }) => (
        <>
          <h2>
            Search for <q>{text}</q>
          </h2>
          {message !== null && (
            <p>
              Message <MessageLink id={message.messageId} /> <State name={message.state} />
            </p>
          )}
          {stream.messages.length > 0 && (
            <section>
              <h3>Stream</h3>
              <StreamParts stream={stream} />
            </section>
          )}
          {types.length > 0 && (
            <section>
              <h3>Types, the newest first</h3>
              <Table
                label="Messages by type"
                columns={messageColumns}
                rows={types}
                keyOf={({ messageId, keptIn }) => `${keptIn} ${messageId}`}
              />
            </section>
          )}
          {message === null && stream.messages.length === 0 && types.length === 0 && (
            <Empty>Nothing was found. What is finished is not kept.</Empty>
          )}
          <p class="muted">
            Types are searched among the newest {whole(searchedMessages)} messages of each table only, by
            their ids.
          </p>
        </>
      )}
    </Answered>
  );
}
