// An answer of the server for a screen: loading, there, or failed; asked again on demand, given up when the screen is left.
import { useCallback, useEffect, useState } from 'preact/hooks';
import { ask, messageOf } from './server.js';

export interface Answer<T> {
  readonly value: T | undefined;
  readonly error: string | undefined;
  readonly isLoading: boolean;
  readonly again: () => void;
  readonly cancel: () => void;
}

/** Undefined as the name: not asked. */
export function useAnswer<T>(
  name: string | undefined,
  parameters: Readonly<Record<string, string>>,
): Answer<T> {
  const [state, setState] = useState<Omit<Answer<T>, 'again' | 'cancel'>>({
    value: undefined,
    error: undefined,
    isLoading: true,
  });
  const [round, setRound] = useState(0);
  const [stop, setStop] = useState<AbortController | undefined>(undefined);
  const key = JSON.stringify([name, parameters]);
  useEffect(() => {
    if (name === undefined) return;
    const controller = new AbortController();
    setStop(controller);
    setState((before) => ({ value: before.value, error: undefined, isLoading: true }));
    ask<T>(name, parameters, controller.signal).then(
      (value) => setState({ value, error: undefined, isLoading: false }),
      (error) => {
        const isGivenUp = controller.signal.aborted;
        setState({
          value: undefined,
          error: isGivenUp ? 'It was cancelled.' : messageOf(error),
          isLoading: false,
        });
      },
    );
    return () => controller.abort();
  }, [key, round]);
  const again = useCallback(() => setRound((before) => before + 1), []);
  return { ...state, again, cancel: () => stop?.abort() };
}
