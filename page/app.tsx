// The frame of the page: which service, where one is, search, pause, theme; and the keys.
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { ConfirmDialog } from './parts/confirm.js';
import { Notice } from './parts/notice.js';
import { Failed, Loading } from './parts/states.js';
import { ClockworkScreen } from './screens/clockwork.js';
import { DeadLettersScreen } from './screens/dead-letters.js';
import { InstancesScreen } from './screens/instances.js';
import { MessageScreen } from './screens/message.js';
import { OperationsScreen } from './screens/operations.js';
import { OverviewScreen } from './screens/overview.js';
import { PartitionsScreen } from './screens/partitions.js';
import { PerspectivesScreen } from './screens/perspectives.js';
import { SearchScreen } from './screens/search.js';
import { SignInScreen } from './screens/sign-in.js';
import { StreamScreen } from './screens/stream.js';
import { StreamsScreen } from './screens/streams.js';
import { goTo, linkTo, place } from './state/address.js';
import { connection, isPaused, liveError, schema } from './state/live.js';
import { act, openSession, session, sessionError } from './state/server.js';
import { nextTheme, theme } from './state/theme.js';

/** In the order of their keys, 1 to 8. */
const tabs = [
  ['overview', 'Overview'],
  ['instances', 'Instances'],
  ['partitions', 'Partitions'],
  ['streams', 'Streams'],
  ['dead-letters', 'Dead letters'],
  ['clockwork', 'Schedules'],
  ['perspectives', 'Perspectives'],
  ['operations', 'Operations'],
] as const;

const screens: Readonly<Record<string, ComponentType>> = {
  overview: OverviewScreen,
  instances: InstancesScreen,
  partitions: PartitionsScreen,
  streams: StreamsScreen,
  stream: StreamScreen,
  message: MessageScreen,
  'dead-letters': DeadLettersScreen,
  clockwork: ClockworkScreen,
  perspectives: PerspectivesScreen,
  operations: OperationsScreen,
  search: SearchScreen,
};

export function App() {
  useEffect(() => {
    void openSession();
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  if (sessionError.value !== undefined)
    return <Failed error={sessionError.value} again={() => void openSession()} />;
  if (session.value === undefined) return <Loading />;
  if (session.value === null) return <SignInScreen />;
  const { screen, id } = place.value;
  const Screen = screens[screen] ?? OverviewScreen;
  return (
    <>
      <Header />
      <main>
        {liveError.value !== undefined && <Failed error={liveError.value} />}
        <Screen key={`${schema.value} ${screen} ${id}`} />
      </main>
      <footer class="muted">
        Whizbang {session.value.version} · {session.value.who} ·{' '}
        {session.value.mayAct ? 'may act' : 'read-only'} · keys: 1–8 screens, / search, p pause, t theme
      </footer>
      <ConfirmDialog />
      <Notice />
    </>
  );
}

function Header() {
  const { screen } = place.value;
  const schemas = session.value?.schemas ?? [];
  return (
    <header>
      <div class="top">
        <a class="brand" href={linkTo(schema.value, 'overview')}>
          Whizbang
        </a>
        {schemas.length > 1 ? (
          <select
            aria-label="Service"
            value={schema.value}
            onChange={({ currentTarget }) => goTo(currentTarget.value, screen)}
          >
            {schemas.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        ) : (
          <span class="muted">{schema.value}</span>
        )}
        <Search />
        <button type="button" onClick={togglePause} aria-pressed={isPaused.value} class="live">
          <i class={`dot ${isPaused.value ? 'paused' : connection.value}`} aria-hidden="true" />
          {isPaused.value ? 'paused' : connection.value}
        </button>
        <button type="button" onClick={nextTheme} aria-label={`Theme: ${theme.value}`} title="Theme">
          {{ system: '◐', light: '☀', dark: '☾' }[theme.value]}
        </button>
        {session.value?.hasToken && (
          <button type="button" onClick={signOut}>
            Sign out
          </button>
        )}
      </div>
      <nav aria-label="Screens">
        {tabs.map(([name, title]) => (
          <a key={name} href={linkTo(schema.value, name)} aria-current={screen === name ? 'page' : undefined}>
            {title}
          </a>
        ))}
      </nav>
    </header>
  );
}

function Search() {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget as HTMLFormElement).get('text') ?? '').trim();
    if (text !== '') goTo(schema.value, 'search', '', { text });
  };
  return (
    <search>
      <form onSubmit={submit}>
        <input
          id="search"
          name="text"
          type="search"
          aria-label="Search"
          placeholder="id, type or stream  ( / )"
        />
      </form>
    </search>
  );
}

const togglePause = () => {
  isPaused.value = !isPaused.value;
};

const signOut = () => {
  act('sign-out', {}).then(
    () => {
      session.value = null;
    },
    () => location.reload(),
  );
};

function onKey(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  if (event.ctrlKey || event.metaKey || event.altKey || target.closest('input, select, textarea, dialog'))
    return;
  const tab = tabs[Number(event.key) - 1];
  if (tab !== undefined) goTo(schema.value, tab[0]);
  else if (event.key === 'p') togglePause();
  else if (event.key === 't') nextTheme();
  else if (event.key === '/') document.getElementById('search')?.focus();
  else return;
  event.preventDefault();
}
