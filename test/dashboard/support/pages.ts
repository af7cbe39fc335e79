// The page over a test's database, asked as a browser or a program would.
import { actions } from '../../../src/dashboard/actions.js';
import { type Dashboard, type DashboardOptions, dashboard } from '../../../src/dashboard/index.js';
import { silentLogger } from '../../../src/logger.js';
import type { TestDatabase } from '../../support/database.js';

export const token = 'a-long-and-random-secret';
export const bearer = { authorization: `Bearer ${token}` };

/** A page with a token, unless the options say otherwise. */
export function open(db: TestDatabase, options: Partial<DashboardOptions> = {}): Dashboard {
  return dashboard({ pool: db.pool, token, logger: silentLogger, ...options });
}

interface Asked {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: an answer of any shape, which the test describes.
  readonly body: any;
}

/** Asks under http://ops.example.com, with the token unless other headers are given. */
export async function ask(
  { fetch }: Pick<Dashboard, 'fetch'>,
  path: string,
  { headers = bearer, body }: { headers?: Record<string, string>; body?: unknown } = {},
): Promise<Asked> {
  const request = new Request(new URL(path, 'http://ops.example.com/'), {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const response = await fetch(request);
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

/** The questions that name something, with parameters that are right. */
export const questionsWith = (id: string) => [
  'api/overview?schema=whizbang',
  'api/streams?lane=inbox&order=deepest&limit=10',
  `api/stream?id=${id}`,
  `api/message?id=${id}`,
  `api/payload?id=${id}`,
  `api/explain?id=${id}`,
  `api/explain?stream=${id}`,
  'api/operations?before=100',
  'api/dead-letters?type=PlaceOrder&stream=order-1&before=100',
  'api/dead-letter-groups',
  'api/clockwork',
  'api/perspectives',
  'api/search?text=PlaceOrder',
];

/** Everything that the page can do. */
export const actionNames = Object.keys(actions({} as never, {} as never));
