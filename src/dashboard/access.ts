// Who may look: decided here, for every request, before anything is read.
// In: a request, and the address of its sender where it is known. Out: who it is, or a refusal.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { userInfo } from 'node:os';
import { Refusal } from './answers.js';
import type { ResolvedDashboardOptions } from './dashboard-options.js';

/** What is known of a connection beside its request. */
export interface Peer {
  /** The address at the other end. Undefined: not known. */
  readonly remoteAddress?: string | undefined;
}

const cookieName = 'whizbang_dashboard';
const sessionSeconds = 12 * 60 * 60;
const loopbackHost = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;
const loopbackAddress = /^(?:127(?:\.\d{1,3}){3}|::1|::ffff:127(?:\.\d{1,3}){3})$/;

export class Access {
  readonly #options: ResolvedDashboardOptions;

  constructor(options: ResolvedDashboardOptions) {
    this.#options = options;
  }

  /** Returns who sends the request. Undefined: nobody that is known. */
  async whoIs(request: Request, peer: Peer): Promise<string | undefined> {
    const { token, authorize } = this.#options;
    if (authorize !== undefined) return (await authorize(request)) || undefined;
    if (token === undefined) {
      refuseFromElsewhere(request, peer);
      return localUser();
    }
    const bearer = bearerOf(request);
    if (bearer !== undefined) return isSame(bearer, token) ? 'token' : undefined;
    return this.#whoOfCookie(token, request);
  }

  /** Opens a session for who knows the token. Returns the cookie. */
  signIn(request: Request, given: unknown, who: unknown, path: string): string {
    const { token } = this.#options;
    if (token === undefined) throw new Refusal(404, 'There is no token to sign in with.');
    if (typeof given !== 'string' || !isSame(given, token)) throw new Refusal(401, 'It is not the token.');
    const name = typeof who === 'string' && who.trim() !== '' ? who.trim().slice(0, 100) : 'token';
    const body = Buffer.from(JSON.stringify({ who: name, until: Date.now() + sessionSeconds * 1000 }));
    const text = body.toString('base64url');
    return cookie(request, `${text}.${signature(token, text)}`, path, sessionSeconds);
  }

  signOut(request: Request, path: string): string {
    return cookie(request, '', path, 0);
  }

  #whoOfCookie(token: string, request: Request): string | undefined {
    const pairs = (request.headers.get('cookie') ?? '').split(/;\s*/);
    // Another path of the host may have set one of the same name: any that is ours will do.
    for (const pair of pairs) {
      if (!pair.startsWith(`${cookieName}=`)) continue;
      const [text = '', sign = ''] = pair.slice(cookieName.length + 1).split('.');
      if (!isSame(sign, signature(token, text))) continue;
      const { who, until } = JSON.parse(Buffer.from(text, 'base64url').toString()) as {
        who: string;
        until: number;
      };
      if (until > Date.now()) return who;
    }
    return undefined;
  }
}

/**
 * Refuses what a page of another origin has asked for. A request that acts has to prove where it comes from: browsers always say
 * it then, and a program that sends the token itself was not tricked into it.
 */
export function refuseOtherOrigin(request: Request, acts: boolean): void {
  const origin = request.headers.get('origin');
  const site = request.headers.get('sec-fetch-site');
  const isOwn = origin !== null && hostOf(origin) === ownHost(request);
  if (origin !== null && !isOwn) throw new Refusal(403, 'The request comes from another origin.');
  if (site !== null && site !== 'same-origin' && site !== 'none')
    throw new Refusal(403, 'The request comes from another site.');
  if (acts && !isOwn && bearerOf(request) === undefined)
    throw new Refusal(403, 'The request does not say from which origin it comes.');
}

/**
 * Without a token: only this machine, under a name of this machine. The name is checked because a page of anybody's can make its
 * own name lead here (DNS rebinding); the address, where it is known, because whoever sends the request writes the name.
 */
function refuseFromElsewhere(request: Request, { remoteAddress }: Peer): void {
  const names = [new URL(request.url).host, request.headers.get('host')].filter((name) => name !== null);
  const isForwarded = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'].some((name) =>
    request.headers.has(name),
  );
  const isNear =
    remoteAddress === undefined
      ? process.env.NODE_ENV !== 'production' // nobody can tell: then a name alone opens nothing
      : loopbackAddress.test(remoteAddress);
  if (isNear && !isForwarded && names.every((name) => loopbackHost.test(name))) return;
  throw new Refusal(403, 'Without a token the page answers this machine only, under localhost or 127.0.0.1.');
}

/** Whoever sits at this machine. */
function localUser(): string {
  try {
    return `${userInfo().username}@localhost`;
  } catch {
    return 'localhost'; // a user without a name, as in some containers
  }
}

const ownHost = (request: Request) => request.headers.get('host') ?? new URL(request.url).host;

const hostOf = (origin: string) => (URL.canParse(origin) ? new URL(origin).host : undefined);

function bearerOf(request: Request): string | undefined {
  return /^Bearer (.+)$/i.exec(request.headers.get('authorization') ?? '')?.[1];
}

/** Takes as long for every text: of equal length by their hashes. */
function isSame(given: string, expected: string): boolean {
  const [a, b] = [given, expected].map((text) => createHash('sha256').update(text).digest());
  return timingSafeEqual(a as Buffer, b as Buffer);
}

const signature = (token: string, text: string) =>
  createHmac('sha256', token).update(`whizbang dashboard ${text}`).digest('base64url');

function cookie(request: Request, value: string, path: string, seconds: number): string {
  const isSecure =
    new URL(request.url).protocol === 'https:' || request.headers.get('x-forwarded-proto') === 'https';
  const safePath = /^[\w\-./~%]+$/.test(path) ? path : '/'; // a semicolon would begin an attribute
  const parts = [
    `${cookieName}=${value}`,
    `Path=${safePath}`,
    `Max-Age=${seconds}`,
    'HttpOnly',
    'SameSite=Strict',
  ];
  return [...parts, ...(isSecure ? ['Secure'] : [])].join('; ');
}
