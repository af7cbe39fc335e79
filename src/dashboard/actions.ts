// What the page does: with dead letters, with a message or a stream that waits, with an instance, with what is paused.
// In: a request that was let in. Out: what was done.
// Every action is made by `action`, which asks whether it is allowed before it looks at anything else.
import type { ConnectionPool } from '../database/index.js';
import { quoteSchema } from '../database/index.js';
import { StoreAccess } from '../events/index.js';
import { DeadLetters, Operations } from '../operate/index.js';
import { Refusal } from './answers.js';
import type { ResolvedDashboardOptions } from './dashboard-options.js';
import { idOf, pausableOf, reasonOf, schemaOf, streamOf, textOf } from './parameters.js';

/** What an action gets: who asks for it, and the body of the request. */
interface ActionRequest {
  readonly who: string;
  readonly body: Readonly<Record<string, unknown>>;
}

type Action = (request: ActionRequest) => Promise<object>;

/** How many dead letters can be named one by one. More are chosen by type or stream. */
const mostIds = 1_000;

export function actions(
  pool: ConnectionPool,
  options: ResolvedDashboardOptions,
): Readonly<Record<string, Action>> {
  type Act = (access: StoreAccess, request: ActionRequest) => Promise<object>;
  const action =
    (operation: string, act: Act): Action =>
    async (request) => {
      const { who, body } = request;
      if (!options.mayAct(who)) throw new Refusal(403, 'The page is read-only: allowActions is not set.');
      const schema = schemaOf(options.schemas, body.schema);
      const done = await act(new StoreAccess({ pool, schema: quoteSchema(schema) }), request);
      if (body.dryRun !== true)
        options.logger.info({ who, operation, schema, ...targetOf(body) }, 'dashboard action');
      return done;
    };
  /** One that changes something or not: false or 0 if there was nothing to do. */
  const operate = (
    name: string,
    act: (operations: Operations, body: ActionRequest['body'], who: string) => Promise<boolean | number>,
  ) => ({
    [name]: action(name, async (access, { who, body }) => ({
      done: Boolean(await act(new Operations(access), body, who)),
    })),
  });
  return {
    'retry-dead-letters': action('retry-dead-letters', async (access, request) => {
      const letters = new DeadLetters(access);
      return { letters: await each(request, (which, how) => letters.retry(which, how)) };
    }),
    'discard-dead-letters': action('discard-dead-letters', async (access, request) => {
      const letters = new DeadLetters(access);
      return { letters: await each(request, (which, how) => letters.discard(which, how)) };
    }),
    ...operate('retry-now', (operations, { id }, who) => operations.retryNow(idOf(id, 'id'), { who })),
    ...operate('give-up', (operations, { id, reason }, who) =>
      operations.giveUp(idOf(id, 'id'), { who, reason: reasonOf(reason) }),
    ),
    ...operate('release-stream', (operations, { stream }, who) =>
      operations.releaseStream(streamOf(stream, 'stream'), { who }),
    ),
    ...operate('release-instance', (operations, { instance }, who) =>
      operations.releaseInstance(idOf(instance, 'instance'), { who }),
    ),
    ...operate('pause', (operations, body, who) =>
      operations.pause(pausableOf(body), { who, reason: reasonOf(body.reason) }),
    ),
    ...operate('resume', (operations, body, who) => operations.resume(pausableOf(body), { who })),
  };
}

type Which = string | { readonly type?: string; readonly streamId?: string };

/** Those that are named one by one, in the order in which they were given up; or all of a type, or of a stream. */
async function each<T extends { readonly number: number }>(
  { who, body }: ActionRequest,
  act: (which: Which, options: { readonly dryRun: boolean; readonly who: string }) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const options = { dryRun: body.dryRun === true, who };
  if (body.ids === undefined) {
    const which = {
      ...(body.type === undefined ? {} : { type: textOf(body.type, 'type') }),
      ...(body.stream === undefined ? {} : { streamId: streamOf(body.stream, 'stream') }),
    };
    if (Object.keys(which).length === 0) throw new Refusal(400, 'Say which: ids, type or stream.');
    return act(which, options);
  }
  if (!Array.isArray(body.ids) || body.ids.length === 0 || body.ids.length > mostIds)
    throw new Refusal(400, `ids has to be a list of 1 to ${mostIds} ids.`);
  const ids = body.ids.map((id) => idOf(id, 'ids'));
  const found: { readonly id: string; readonly number: number; readonly letters: readonly T[] }[] = [];
  for (const id of new Set(ids)) {
    const letters = await act(id, { dryRun: true, who });
    if (letters[0] !== undefined) found.push({ id, number: letters[0].number, letters });
  }
  found.sort((a, b) => a.number - b.number);
  if (options.dryRun) return found.flatMap(({ letters }) => letters);
  const done: T[] = [];
  for (const { id } of found) done.push(...(await act(id, options)));
  return done;
}

const targetOf = ({ ids, id, type, stream, instance, intake, reason }: ActionRequest['body']) => ({
  ids,
  id,
  type,
  stream,
  instance,
  intake,
  reason,
});
