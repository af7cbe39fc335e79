import { useState } from 'preact/hooks';
import { MessageLink, State, StreamLink } from '../parts/links.js';
import { Answered, Empty, Failed, Loading } from '../parts/states.js';
import { place } from '../state/address.js';
import { useAnswer } from '../state/answer.js';
import { now, schema } from '../state/live.js';
import { session } from '../state/server.js';
import { relative } from '../text/format.js';
import { Act, PauseButton, Pauses } from './act.js';
import { discardLetters, retryLetters } from './acting.js';
import { Explanation } from './explanation.js';
import { Failures, type Found, Hops, Passed } from './message-past.js';
import { giveUp, tryNow } from './operating.js';

export function MessageScreen() {
  const { id } = place.value;
  const answer = useAnswer<Found>('message', { schema: schema.value, id });
  return (
    <Answered answer={answer}>
      {(found) => (
        <>
          <h2>
            {found.message.type ?? 'Message'} <State name={found.message.state} />
          </h2>
          <Actions found={found} again={answer.again} />
          {found.message.state === 'unknown' && (
            <Empty>
              Nothing is known of this id: it was never stored, has left for another service, or was
              forgotten.
            </Empty>
          )}
          <Facts found={found} />
          <Explanation key={found.message.state} of={{ id }} />
          <Failures found={found} />
          <Passed found={found} />
          <Hops found={found} />
          {found.hasPayload && <Payload key={id} id={id} />}
        </>
      )}
    </Answered>
  );
}

/** In these states it is in a lane, and not at its end. */
const unfinished = new Set([
  'waiting',
  'scheduled',
  'running',
  'retrying',
  'blocked',
  'unhandled',
  'limited',
  'paused',
]);

function Actions({ found: { message, trail }, again }: { found: Found; again: () => void }) {
  const { messageId: id, state, streamId } = message;
  const isHere = unfinished.has(state) && trail !== null && trail.keptIn !== 'timers';
  // What is paused is a type of the inbox, by the name of its handler.
  const handler = isHere && trail.keptIn === 'inbox' ? trail.target : undefined;
  return (
    <>
      <p class="bar">
        <button type="button" onClick={again}>
          Refresh
        </button>
        {state === 'dead' && (
          <>
            <Act run={() => retryLetters({ ids: [id] })} again={again}>
              Retry
            </Act>
            <Act run={() => discardLetters({ ids: [id] })} again={again} isDestructive>
              Discard
            </Act>
          </>
        )}
        {(state === 'retrying' || state === 'scheduled') && (
          <Act run={() => tryNow(id)} again={again}>
            Try now
          </Act>
        )}
        {isHere && (
          <Act run={() => giveUp(id)} again={again} isDestructive>
            Give up
          </Act>
        )}
        {isHere && streamId !== undefined && <PauseButton kind="stream" name={streamId} again={again} />}
        {handler !== undefined && <PauseButton kind="type" name={handler} again={again} />}
      </p>
      <Pauses
        only={({ kind, name }) =>
          isHere &&
          (kind === 'stream'
            ? name === streamId
            : handler !== undefined && (kind === 'intake' || name === handler))
        }
      />
    </>
  );
}

function Facts({ found: { message, trail, passed, traceUrl } }: { found: Found }) {
  const traceId = (trail ?? passed[0])?.traceparent?.split('-')[1];
  return (
    <dl class="facts">
      <dt>Message</dt>
      <dd class="id">{message.messageId}</dd>
      {message.streamId !== undefined && (
        <>
          <dt>Stream</dt>
          <dd>
            <StreamLink id={message.streamId} />
          </dd>
        </>
      )}
      {trail !== null && (
        <>
          <dt>Kept in</dt>
          <dd>
            {trail.keptIn}, for {trail.target}
          </dd>
        </>
      )}
      {message.storedAt !== undefined && (
        <>
          <dt>{message.state === 'finished' ? 'First seen' : 'Stored'}</dt>
          <dd>
            {relative(message.storedAt, now.value)}, <time>{message.storedAt}</time>
          </dd>
        </>
      )}
      {message.dueAt !== undefined && (
        <>
          <dt>Due</dt>
          <dd>{relative(message.dueAt, now.value)}</dd>
        </>
      )}
      {message.heldBy !== undefined && (
        <>
          <dt>Held by</dt>
          <dd class="id">{message.heldBy}</dd>
        </>
      )}
      {message.behind !== undefined && (
        <>
          <dt>Waits behind</dt>
          <dd>
            <MessageLink id={message.behind} />
          </dd>
        </>
      )}
      {trail?.correlationId && (
        <>
          <dt>Correlation</dt>
          <dd class="id">{trail.correlationId}</dd>
        </>
      )}
      {trail?.causationId && (
        <>
          <dt>Caused by</dt>
          <dd class="id">{trail.causationId}</dd>
        </>
      )}
      {traceId && (
        <>
          <dt>Trace</dt>
          <dd class="id">
            {traceUrl === null ? (
              traceId
            ) : (
              <a href={traceUrl} target="_blank" rel="noreferrer">
                {traceId}
              </a>
            )}
          </dd>
        </>
      )}
    </dl>
  );
}

function Payload({ id }: { id: string }) {
  const [isAsked, setAsked] = useState(false);
  const answer = useAnswer<{ payload: unknown }>(isAsked ? 'payload' : undefined, {
    schema: schema.value,
    id,
  });
  return (
    <section>
      <h3>Payload</h3>
      {session.value?.isMasked ? (
        <p class="muted">Payloads are not shown here.</p>
      ) : !isAsked ? (
        <button type="button" onClick={() => setAsked(true)}>
          Show the payload
        </button>
      ) : answer.error !== undefined ? (
        <Failed error={answer.error} />
      ) : answer.value === undefined ? (
        <Loading />
      ) : (
        <pre data-test="payload">{JSON.stringify(answer.value.payload, null, 2)}</pre>
      )}
    </section>
  );
}
