// What a message has behind it: attempts that failed, lanes that it has passed, services that it came from.
import { now } from '../state/live.js';
import { relative } from '../text/format.js';

type HopList = readonly { service?: string; instanceId?: string; at?: string }[];

/** What is known of a message. */
export interface Found {
  readonly message: {
    readonly messageId: string;
    readonly state: string;
    readonly source?: string;
    readonly type?: string;
    readonly streamId?: string;
    readonly attempts?: number;
    readonly error?: string;
    readonly failures?: readonly { at: string; attempt: number; instanceId: string; error: string }[];
    readonly storedAt?: string;
    readonly dueAt?: string;
    readonly heldBy?: string;
    readonly behind?: string;
  };
  readonly trail: {
    readonly keptIn: string;
    readonly target: string;
    readonly correlationId: string | null;
    readonly causationId: string | null;
    readonly traceparent: string | null;
    readonly hops: HopList | null;
  } | null;
  /** Lanes that it has passed, where it has a history. */
  readonly passed: readonly {
    readonly lane: string;
    readonly target: string;
    readonly attempts: number;
    readonly storedAt: string;
    readonly finishedAt: string;
    readonly instanceId: string;
    readonly traceparent: string | null;
    readonly hops: HopList | null;
  }[];
  readonly hasPayload: boolean;
  readonly traceUrl: string | null;
}

export function Failures({ found: { message } }: { found: Found }) {
  if (message.error === undefined && !message.failures?.length) return null;
  const failures = message.failures ?? [];
  return (
    <section>
      <h3>Attempts that failed: {message.attempts}</h3>
      {failures.length === 0 && <pre class="error">{message.error}</pre>}
      <ol class="failures">
        {failures.map(({ at, attempt, instanceId, error }) => (
          <li key={`${attempt} ${at}`} value={attempt}>
            <span class="muted">
              {relative(at, now.value)} in <span class="id">{instanceId}</span>
            </span>
            <pre class="error">{error}</pre>
          </li>
        ))}
      </ol>
    </section>
  );
}

export function Passed({ found: { passed } }: { found: Found }) {
  if (passed.length === 0) return null;
  return (
    <section>
      <h3>What became of it</h3>
      <ol class="hops">
        {passed.map(({ lane, target, attempts, storedAt, finishedAt, instanceId }) => (
          <li key={`${lane} ${finishedAt}`}>
            stored in the {lane} for <b>{target}</b> at <time>{storedAt}</time>,{' '}
            {attempts > 0 && `failed ${attempts === 1 ? 'once' : `${attempts} times`}, `}
            {lane === 'outbox' ? 'published' : 'handled'} at <time>{finishedAt}</time> by{' '}
            <span class="id">{instanceId}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

export function Hops({ found: { trail, passed } }: { found: Found }) {
  const came = trail?.hops ?? passed.at(-1)?.hops;
  const hops = Array.isArray(came) ? came : [];
  if (hops.length === 0) return null;
  return (
    <section>
      <h3>The way that it came</h3>
      <ol class="hops">
        {hops.map((hop, place) => (
          <li key={`${place} ${hop.at}`}>
            <b>{String(hop.service ?? '?')}</b> <span class="id">{String(hop.instanceId ?? '')}</span>{' '}
            <time>{String(hop.at ?? '')}</time>
          </li>
        ))}
      </ol>
    </section>
  );
}
