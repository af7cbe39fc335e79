// What has just happened, for a moment, and for screen readers.
import { signal } from '@preact/signals';

interface Told {
  readonly text: string;
  readonly isError: boolean;
}

const told = signal<Told | undefined>(undefined);
const shownMs = 6_000;
let timer: ReturnType<typeof setTimeout> | undefined;

export function tell(text: string, isError = false): void {
  clearTimeout(timer);
  told.value = { text, isError };
  timer = setTimeout(() => {
    told.value = undefined;
  }, shownMs);
}

export const Notice = () => (
  <div
    class={`notice ${told.value?.isError ? 'failed' : ''} ${told.value ? 'shown' : ''}`}
    role="status"
    aria-live="polite"
  >
    {told.value?.text}
  </div>
);
