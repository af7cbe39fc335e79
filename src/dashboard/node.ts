// The door for servers of Node: Express, Fastify, node:http. In: Node's request and response. Out: nothing, it answers.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import type { Peer } from './access.js';
import { json } from './answers.js';

/** Express and Fastify cut the path at which a handler is mounted; the whole path is the original one. */
type MountedRequest = IncomingMessage & { readonly originalUrl?: string; readonly body?: unknown };

export async function answerNode(
  incoming: MountedRequest,
  outgoing: ServerResponse,
  parsedBody: unknown,
  fetch: (request: Request, peer: Peer) => Promise<Response>,
): Promise<void> {
  const gone = new AbortController();
  outgoing.on('close', () => gone.abort());
  const request = requestOf(incoming, parsedBody ?? incoming.body, gone.signal);
  const response =
    request === undefined
      ? json({ error: 'The Host or the path of the request cannot be read.' }, 400)
      : await fetch(request, { remoteAddress: incoming.socket.remoteAddress });
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null || incoming.method === 'HEAD') {
    outgoing.end();
    return;
  }
  outgoing.flushHeaders();
  // Who reads it may go at any time.
  await pipeline(Readable.fromWeb(response.body as NodeReadableStream), outgoing).catch(() => {});
}

function requestOf(incoming: MountedRequest, parsed: unknown, signal: AbortSignal): Request | undefined {
  const isEncrypted = 'encrypted' in incoming.socket && incoming.socket.encrypted === true;
  const host = incoming.headers.host ?? 'host-is-missing.invalid';
  const url = `${isEncrypted ? 'https' : 'http'}://${host}${incoming.originalUrl ?? incoming.url ?? '/'}`;
  // A name before the host would be taken for a user; that it is wrong is not ours to repair.
  if (!URL.canParse(url) || /[@/?#\\]/.test(host)) return undefined;
  const headers = new Headers();
  for (const [name, values] of Object.entries(incoming.headersDistinct))
    for (const value of values ?? []) headers.append(name, value);
  const method = incoming.method ?? 'GET';
  if (method === 'GET' || method === 'HEAD') return new Request(url, { method, headers, signal });
  return new Request(url, {
    method,
    headers,
    signal,
    body: bodyOf(incoming, parsed),
    duplex: 'half',
  } as RequestInit);
}

/** A framework may have read and parsed it already. */
function bodyOf(incoming: MountedRequest, parsed: unknown): string | ReadableStream {
  if (parsed !== undefined) return typeof parsed === 'string' ? parsed : JSON.stringify(parsed);
  return Readable.toWeb(incoming) as ReadableStream;
}
