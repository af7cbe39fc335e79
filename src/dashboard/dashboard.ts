// The page for operators, behind one function. In: a request of any server. Out: the page, its files, JSON, or live updates.
// The order of every request: who is it, from where, what is asked, may they. It holds no state but the sampler's.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ConnectionPool, connectMs, guardPool, SmallPool } from '../database/index.js';
import { describeBriefly } from '../describe-error.js';
import { WhizbangError } from '../errors.js';
import { packageVersion } from '../version.js';
import { withoutPasswords } from '../without-passwords.js';
import { Access, type Peer, refuseOtherOrigin } from './access.js';
import { actions } from './actions.js';
import { answer, json, Refusal } from './answers.js';
import { type DashboardOptions, resolveDashboardOptions } from './dashboard-options.js';
import { live } from './live.js';
import { answerNode } from './node.js';
import { pageFiles } from './page.generated.js';
import { schemaOf } from './parameters.js';
import { questions } from './questions.js';
import { readLoad, readOverview } from './reads/overview.js';
import { Reader } from './reads/reader.js';
import { Sampler } from './sampler.js';

/** The page for operators, ready to be mounted. */
export interface Dashboard {
  /** Answers a request: the page at the path that it is mounted at, and all below it. For Hono, Next and others that have `Request`. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** The same for servers of Node, such as Express and Fastify. `parsedBody`: the body, if it has been read already. */
  readonly handle: (
    request: IncomingMessage,
    response: ServerResponse,
    parsedBody?: unknown,
  ) => Promise<void>;
  /** Ends the live updates, and the pool if it is its own. */
  readonly close: () => Promise<void>;
}

const sampleEveryMs = 2_000;
const largestBody = 100_000;
const connections = 4;

/** Makes the page for operators. It asks the database nothing until somebody looks. */
export function dashboard(options: DashboardOptions): Dashboard {
  const resolved = resolveDashboardOptions(options);
  const { schemas, mask } = resolved;
  const { pool, closePool } = openPool(options);
  const access = new Access(resolved);
  const reader = new Reader(pool);
  const asked = questions(pool, resolved);
  const acting = actions(pool, resolved);
  const ended = new AbortController();
  const sampler = new Sampler({
    read: (schema) => reader.read(schema, readOverview),
    readLoad: (schema) => reader.read(schema, readLoad),
    describe: describe,
    everyMs: sampleEveryMs,
  });

  async function api(name: string, base: string, request: Request, peer: Peer): Promise<Response> {
    const isPost = request.method === 'POST';
    if (!isPost && request.method !== 'GET') throw new Refusal(405, 'Only GET and POST are answered.');
    const who = await access.whoIs(request, peer);
    refuseOtherOrigin(request, isPost);
    if (isPost && name === 'sign-in') {
      const { token, who: given } = await bodyOf(request);
      return json({}, 200, { 'set-cookie': access.signIn(request, token, given, base) });
    }
    if (isPost && name === 'sign-out') return json({}, 200, { 'set-cookie': access.signOut(request, base) });
    if (who === undefined) throw new Refusal(401, 'Sign in with the token first.');
    if (isPost) {
      const act = Object.hasOwn(acting, name) ? acting[name] : undefined;
      if (act === undefined) throw new Refusal(404, 'There is no such action.');
      return json(await act({ who, body: await bodyOf(request) }));
    }
    const parameters = new URL(request.url).searchParams;
    if (name === 'session') {
      const hasToken = resolved.token !== undefined;
      return json({
        who,
        schemas,
        hasToken,
        mayAct: resolved.mayAct(who),
        isMasked: mask === true,
        version: packageVersion,
      });
    }
    if (name === 'live') {
      const schema = schemaOf(schemas, parameters.get('schema'));
      const signal = AbortSignal.any([request.signal, ended.signal]);
      return live({ sampler, schema, watchesLoad: parameters.get('load') === '1', signal });
    }
    const question = Object.hasOwn(asked, name) ? asked[name] : undefined;
    if (question === undefined) throw new Refusal(404, 'There is no such question.');
    return json(await question(parameters, request.signal));
  }

  async function page(request: Request, peer: Peer): Promise<Response> {
    // Who is not known gets the page, too, and signs in there. It holds nothing but what is in the package.
    const who = await access.whoIs(request, peer);
    if (who === undefined && resolved.token === undefined)
      throw new Refusal(401, 'You may not look at this page.');
    return file('index.html', who === undefined ? 401 : 200);
  }

  async function fetchFrom(request: Request, peer: Peer): Promise<Response> {
    const { pathname } = new URL(request.url);
    try {
      const [, base = '', kind, name = ''] = /^(.*\/)(api|assets)\/([\w.-]+)$/.exec(pathname) ?? [];
      if (kind === 'api' && !isNavigation(request)) return await api(name, base, request, peer);
      if (request.method !== 'GET' && request.method !== 'HEAD')
        throw new Refusal(405, 'Only GET is answered.');
      if (kind === 'assets' && Object.hasOwn(pageFiles, name)) return file(name);
      if (pathname.endsWith('/')) return await page(request, peer);
      // The page names its files relative to its own path, which has to end with a slash.
      return answer(302, 'text/plain', '', {
        location: `./${pathname.slice(pathname.lastIndexOf('/') + 1)}/`,
      });
    } catch (error) {
      return refused(error, resolved.logger);
    }
  }

  return {
    fetch: (request) => fetchFrom(request, {}),
    handle: (request, response, parsedBody) => answerNode(request, response, parsedBody, fetchFrom),
    close: async () => {
      sampler.close();
      ended.abort();
      await closePool();
    },
  };
}

function openPool({ pool, connectionString }: DashboardOptions): {
  readonly pool: ConnectionPool;
  readonly closePool: () => Promise<void>;
} {
  if (pool !== undefined) {
    guardPool(pool);
    return { pool, closePool: async () => {} };
  }
  const setting = 'dashboard.connectionString';
  const own = new SmallPool({
    connectionString: connectionString as string,
    setting,
    max: connections,
    connectMs: connectMs - 1_000,
  });
  return { pool: own, closePool: () => own.close() };
}

function file(name: string, status = 200): Response {
  const { type, body } = pageFiles[name] as { type: string; body: string };
  // Their names change with what is in them.
  const cache = name === 'index.html' ? 'no-store' : 'public, max-age=31536000, immutable';
  return answer(status, type, body, { 'cache-control': cache });
}

/** Whether a browser asks for a page, not a page for an answer: a mount may end with `/api/something` itself. */
const isNavigation = (request: Request) => request.headers.get('sec-fetch-mode') === 'navigate';

async function bodyOf(request: Request): Promise<Readonly<Record<string, unknown>>> {
  if (!/^application\/json\b/i.test(request.headers.get('content-type') ?? ''))
    throw new Refusal(415, 'The body has to be application/json.');
  if (Number(request.headers.get('content-length') ?? 0) > largestBody)
    throw new Refusal(413, 'The body is too large.');
  const text = await request.text();
  if (text.length > largestBody) throw new Refusal(413, 'The body is too large.');
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null && !Array.isArray(body))
      return body as Record<string, unknown>;
  } catch {}
  throw new Refusal(400, 'The body is not a JSON object.');
}

function refused(error: unknown, logger: { warn(facts: object, message: string): void }): Response {
  if (error instanceof Refusal) return json({ error: error.message }, error.status);
  if (error instanceof WhizbangError && error.code === 'INVALID_OPTION')
    return json({ error: error.message }, 400);
  if (error instanceof Error && error.name === 'AbortError')
    return json({ error: 'Nobody waits for it any more.' }, 499);
  if (error instanceof WhizbangError && error.code === 'PERMISSION_DENIED')
    return json({ error: `The role of the page may not do this: ${error.message}.` }, 403);
  const text = describe(error);
  logger.warn({ error: text }, 'dashboard: a request failed');
  return json({ error: text }, error instanceof WhizbangError && error.retryable ? 503 : 500);
}

function describe(error: unknown): string {
  if (error instanceof WhizbangError)
    return withoutPasswords(`${error.code}: ${error.message} ${error.hint}`);
  return error instanceof Refusal ? error.message : withoutPasswords(describeBriefly(error).slice(0, 500));
}
