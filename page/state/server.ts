// Questions and actions. In: a name and parameters. Out: the answer, or an error with the server's reason.
import { signal } from '@preact/signals';

interface Session {
  readonly who: string;
  readonly schemas: readonly string[];
  readonly hasToken: boolean;
  readonly mayAct: boolean;
  readonly isMasked: boolean;
  readonly version: string;
}

class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Undefined: not asked yet. Null: somebody has to sign in. */
export const session = signal<Session | null | undefined>(undefined);
export const sessionError = signal<string | undefined>(undefined);

/** The page may be mounted anywhere: all is relative to its own path. */
export const urlOf = (name: string, parameters: Readonly<Record<string, string>> = {}) =>
  `./api/${name}?${new URLSearchParams(parameters)}`;

export async function ask<T>(
  name: string,
  parameters: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<T> {
  return answerOf<T>(await fetch(urlOf(name, parameters), { signal: signal ?? null }));
}

export async function act<T>(name: string, body: object): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  return answerOf<T>(await fetch(`./api/${name}`, { method: 'POST', headers, body: JSON.stringify(body) }));
}

async function answerOf<T>(response: Response): Promise<T> {
  const body = (await response.json().catch(() => ({}))) as { error?: string };
  if (response.ok) return body as T;
  if (response.status === 401) session.value = null;
  throw new Refused(response.status, body.error ?? `The server answered ${response.status}.`);
}

export async function openSession(): Promise<void> {
  try {
    await signInByLink();
    session.value = await ask<Session>('session');
    sessionError.value = undefined;
  } catch (error) {
    if (!(error instanceof Refused && error.status === 401)) sessionError.value = messageOf(error);
  }
}

/** A link may hold the token, as that of `whizbang dev` does: `#token=…`. It is taken out of the address at once. */
async function signInByLink(): Promise<void> {
  const [, token] = /^#token=([\w-]+)$/.exec(location.hash) ?? [];
  if (token === undefined) return;
  history.replaceState(null, '', '#/');
  await act('sign-in', { token }).catch(() => {}); // another one, or none is needed: the session will tell
}

export const messageOf = (error: unknown) =>
  error instanceof Refused ? error.message : 'The server cannot be reached.';
