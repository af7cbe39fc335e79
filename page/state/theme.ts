// Light or dark: as the system says, until somebody chooses.
import { effect, signal } from '@preact/signals';

type Theme = 'system' | 'light' | 'dark';

const key = 'whizbang-theme';

function stored(): Theme {
  const value = localStorage.getItem(key);
  return value === 'light' || value === 'dark' ? value : 'system';
}

export const theme = signal<Theme>(stored());

effect(() => {
  document.documentElement.dataset.theme = theme.value;
  localStorage.setItem(key, theme.value);
});

const order: readonly Theme[] = ['system', 'light', 'dark'];

export function nextTheme(): void {
  theme.value = order[(order.indexOf(theme.value) + 1) % order.length] ?? 'system';
}
