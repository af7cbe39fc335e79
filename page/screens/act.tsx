// A button of an action, and what is paused. They are there only for who may act; the server checks it again.
import type { ComponentChildren } from 'preact';
import { StreamLink } from '../parts/links.js';
import { now, overview } from '../state/live.js';
import { session } from '../state/server.js';
import { ago } from '../text/format.js';
import { type Pausable, pause, resume } from './operating.js';

interface ActProps {
  /** Returns whether what is shown is out of date now. */
  readonly run: () => Promise<boolean>;
  readonly again?: () => void;
  readonly isDestructive?: boolean;
  readonly children: ComponentChildren;
}

export function Act({ run, again, isDestructive, children }: ActProps) {
  if (!session.value?.mayAct) return null;
  const click = () =>
    void run().then((isDone) => {
      if (isDone) again?.();
    });
  return (
    <button type="button" class={isDestructive ? 'danger' : ''} onClick={click}>
      {children}
    </button>
  );
}

interface Pause {
  readonly kind: 'type' | 'stream' | 'intake';
  readonly name: string;
  readonly since: string;
  readonly who: string;
  readonly reason: string | null;
}

const targetOf = ({ kind, name }: Pick<Pause, 'kind' | 'name'>): Pausable =>
  kind === 'intake' ? { intake: true } : kind === 'type' ? { type: name } : { stream: name };

/** Pause, or resume if it is paused already, as the last sample says. */
export function PauseButton({ kind, name, again }: Pick<Pause, 'kind' | 'name'> & { again?: () => void }) {
  const isPaused = overview.value?.pauses.some((each) => each.kind === kind && each.name === name) ?? false;
  const word = { type: `type ${name}`, stream: 'the stream', intake: 'the intake' }[kind];
  const next = again === undefined ? {} : { again };
  return isPaused ? (
    <Act run={() => resume(targetOf({ kind, name }))} {...next}>
      Resume {word}
    </Act>
  ) : (
    <Act run={() => pause(targetOf({ kind, name }))} isDestructive {...next}>
      Pause {word}
    </Act>
  );
}

/** What is paused, above everything else: nobody should search for hours for what somebody has paused. */
export function Pauses({ only }: { only?: (pause: Pause) => boolean }) {
  const pauses = (overview.value?.pauses ?? []).filter(only ?? (() => true));
  if (pauses.length === 0) return null;
  return (
    <ul class="pauses" aria-label="What is paused">
      {pauses.map((each) => (
        <li key={`${each.kind} ${each.name}`}>
          <span>
            <span class="badge paused">paused</span>{' '}
            {each.kind === 'intake' ? 'the intake of the service' : `the ${each.kind} `}
            {each.kind === 'stream' ? <StreamLink id={each.name} /> : <b>{each.name}</b>}
            <span class="muted">
              {' '}
              by {each.who}, {ago(each.since, now.value)}
              {each.reason !== null && `: ${each.reason}`}
            </span>
          </span>
          <Act run={() => resume(targetOf(each))}>Resume</Act>
        </li>
      ))}
    </ul>
  );
}
