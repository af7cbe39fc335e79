// What every screen can be in beside its content: loading, empty, failed.
import type { ComponentChildren } from 'preact';
import type { Answer } from '../state/answer.js';

export const Loading = ({ cancel }: { cancel?: () => void }) => (
  <p class="state" role="status">
    <span class="spinner" aria-hidden="true" /> Loading…{' '}
    {cancel && (
      <button type="button" onClick={cancel}>
        Cancel
      </button>
    )}
  </p>
);

export const Empty = ({ children }: { children: ComponentChildren }) => <p class="state">{children}</p>;

export const Failed = ({ error, again }: { error: string; again?: () => void }) => (
  <p class="state failed" role="alert">
    {error}{' '}
    {again && (
      <button type="button" onClick={again}>
        Try again
      </button>
    )}
  </p>
);

/** Shows an answer when it is there. What was there before stays while it is asked again. */
export function Answered<T>({
  answer,
  children,
}: {
  answer: Answer<T>;
  children: (value: T) => ComponentChildren;
}) {
  if (answer.error !== undefined) return <Failed error={answer.error} again={answer.again} />;
  if (answer.value === undefined) return <Loading cancel={answer.cancel} />;
  return <div aria-busy={answer.isLoading}>{children(answer.value)}</div>;
}
