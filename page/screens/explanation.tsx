// Why a message or a stream does not run, where the schema can tell: the reasons, the most decisive first, with what to do.
import { useAnswer } from '../state/answer.js';
import { now, schema } from '../state/live.js';
import { duration, relative } from '../text/format.js';

interface Reason {
  readonly step: number;
  readonly code: string;
  readonly isBlocking: boolean | null;
  readonly text: string;
  readonly since: string | null;
  readonly until: string | null;
  readonly facts: Readonly<Record<string, unknown>> | null;
  readonly remedy: string | null;
}

/** The last rows are one for each living instance: could it take the message now? */
const isOfInstance = ({ facts }: Reason) => facts !== null && 'can_take' in facts;

export function Explanation({ of }: { of: { readonly id: string } | { readonly stream: string } }) {
  const { value } = useAnswer<{ reasons: readonly Reason[] | null }>('explain', {
    schema: schema.value,
    ...of,
  });
  // It is an addition: where there is none, or it cannot be told, the rest of the screen speaks for itself.
  if (!value?.reasons?.length) return null;
  const reasons = value.reasons.filter((reason) => !isOfInstance(reason));
  const instances = value.reasons.filter(isOfInstance);
  return (
    <section class="explanation" data-test="explain">
      <h3>Why is it not running?</h3>
      <ol>
        {reasons.map(({ step, code, isBlocking, text, since, until, remedy }) => (
          <li key={`${step} ${code} ${text}`} class={isBlocking ? 'blocking' : ''}>
            <span class="badge">{code}</span> {text}
            <span class="muted">
              {since !== null && ` for ${duration(now.value - Date.parse(since))}`}
              {until !== null && `, until ${relative(until, now.value)}`}
            </span>
            {remedy && <div class="remedy">→ {remedy}</div>}
          </li>
        ))}
      </ol>
      {instances.length > 0 && (
        <ul>
          {instances.map(({ code, text, facts }) => (
            <li key={String(facts?.instance_id)}>
              <span class={`badge ${facts?.can_take === true ? 'alive' : ''}`}>{code}</span> {text}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
