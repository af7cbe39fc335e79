// Where one is: `#/schema/screen/id?key=value`. The back button works, and a link can be sent to a colleague.
import { computed, signal } from '@preact/signals';

interface Place {
  readonly schema: string;
  readonly screen: string;
  readonly id: string;
  readonly query: URLSearchParams;
}

const hash = signal(location.hash);
addEventListener('hashchange', () => {
  hash.value = location.hash;
});

export const place = computed<Place>(() => {
  const [path = '', query = ''] = hash.value.replace(/^#\/?/, '').split('?');
  const [schema = '', screen = '', id = ''] = path.split('/').map(decoded);
  return { schema, screen: screen || 'overview', id, query: new URLSearchParams(query) };
});

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}

export function linkTo(schema: string, screen: string, id = '', query: Record<string, string> = {}): string {
  const parts = [schema, screen, ...(id === '' ? [] : [id])].map(encodeURIComponent).join('/');
  const search = new URLSearchParams(query).toString();
  return `#/${parts}${search === '' ? '' : `?${search}`}`;
}

export function goTo(...to: Parameters<typeof linkTo>): void {
  location.hash = linkTo(...to);
}
