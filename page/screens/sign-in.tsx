import { useState } from 'preact/hooks';
import { act, messageOf, openSession } from '../state/server.js';

export function SignInScreen() {
  const [error, setError] = useState<string | undefined>(undefined);
  const signIn = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    act('sign-in', { token: form.get('token'), who: form.get('who') })
      .then(openSession)
      .catch((refused: unknown) => setError(messageOf(refused)));
  };
  return (
    <form class="sign-in" onSubmit={signIn}>
      <h1>Whizbang</h1>
      <label>
        Token
        <input name="token" type="password" autocomplete="current-password" required autofocus />
      </label>
      <label>
        Your name, kept with what you do
        <input name="who" autocomplete="username" maxLength={100} />
      </label>
      {error !== undefined && (
        <p class="failed" role="alert">
          {error}
        </p>
      )}
      <button type="submit" class="primary">
        Sign in
      </button>
    </form>
  );
}
