// What the page can be asked, one function per question. In: the parameters of a request that was let in. Out: JSON.

import { listSchedules, listTimers, perspectiveStatus } from '../coordinator/index.js';
import { type ConnectionPool, quoteSchema } from '../database/index.js';
import { StoreAccess } from '../events/index.js';
import {
  DeadLetters,
  listOperations,
  listPauses,
  type StoredMessage,
  StoredMessages,
} from '../operate/index.js';
import { isUuid } from '../uuid.js';
import { Refusal } from './answers.js';
import type { ResolvedDashboardOptions } from './dashboard-options.js';
import { idOf, oneOf, schemaOf, streamOf, textOf, wholeNumber } from './parameters.js';
import { deadLetterGroups } from './reads/dead-letters.js';
import {
  canExplain,
  explain,
  readPassed,
  readTrail,
  searchedMessages,
  searchType,
} from './reads/messages.js';
import { readLoad, readOverview } from './reads/overview.js';
import { Reader } from './reads/reader.js';
import { deepest, longestWaiting, oneStream } from './reads/streams.js';

type Question = (parameters: URLSearchParams, signal: AbortSignal) => Promise<object>;

const laneNames = ['outbox', 'inbox'] as const;
const pageSize = 100;
const firstTimers = { type: undefined, streamId: undefined, after: undefined, limit: pageSize };

export function questions(
  pool: ConnectionPool,
  options: ResolvedDashboardOptions,
): Readonly<Record<string, Question>> {
  const reader = new Reader(pool);
  const schemaIn = (parameters: URLSearchParams) => schemaOf(options.schemas, parameters.get('schema'));
  const accessTo = (schema: string) => new StoreAccess({ pool, schema: quoteSchema(schema) });
  const find = (schema: string, id: string) => new StoredMessages(accessTo(schema)).get(id);

  return {
    overview: (parameters, signal) =>
      reader.read(
        schemaIn(parameters),
        async (db, schema) => ({
          ...(await readOverview(db, schema)),
          load: await readLoad(db, schema),
        }),
        signal,
      ),

    streams: async (parameters, signal) => {
      const lane = oneOf(parameters.get('lane'), 'lane', laneNames);
      const order = oneOf(parameters.get('order'), 'order', ['waiting', 'deepest']) ?? 'waiting';
      const choice = { lane, limit: wholeNumber(parameters.get('limit'), 'limit', 500) ?? pageSize };
      const ask = order === 'waiting' ? longestWaiting : deepest;
      const streams = await reader.read(
        schemaIn(parameters),
        (db, schema) => ask(db, schema, choice),
        signal,
      );
      return { streams };
    },

    stream: (parameters, signal) => {
      const streamId = streamOf(parameters.get('id'), 'id');
      return reader.read(schemaIn(parameters), (db, schema) => oneStream(db, schema, streamId), signal);
    },

    message: async (parameters) => {
      const [schema, id] = [schemaIn(parameters), idOf(parameters.get('id'), 'id')];
      const { payload, scope: _, ...message } = await find(schema, id);
      const trail = await reader.read(schema, (db, quoted) => readTrail(db, quoted, id));
      const passed = await reader.read(schema, (db, quoted) => readPassed(db, quoted, id));
      return {
        message,
        trail,
        passed,
        hasPayload: payload !== undefined,
        traceUrl: traceUrlOf(options.traceUrl, trail?.traceparent ?? passed[0]?.traceparent),
      };
    },

    payload: async (parameters) => {
      const [schema, id] = [schemaIn(parameters), idOf(parameters.get('id'), 'id')];
      if (options.mask === true) throw new Refusal(403, 'Payloads are masked: the option mask is set.');
      return { payload: masked(options, schema, await find(schema, id)) };
    },

    explain: (parameters, signal) => {
      const stream = parameters.get('stream');
      const [what, id] =
        stream === null
          ? (['message', idOf(parameters.get('id'), 'id')] as const)
          : (['stream', streamOf(stream, 'stream')] as const);
      return reader.read(
        schemaIn(parameters),
        async (db, schema) => ({
          reasons: (await canExplain(db, schema, what)) ? await explain(db, schema, what, id) : null,
        }),
        signal,
      );
    },

    operations: (parameters, signal) => {
      const before = wholeNumber(parameters.get('before'), 'before', Number.MAX_SAFE_INTEGER);
      return reader.read(
        schemaIn(parameters),
        async (db, schema) => ({
          pauses: await listPauses(db, schema),
          operations: await listOperations(db, schema, { limit: pageSize, before }),
        }),
        signal,
      );
    },

    'dead-letters': async (parameters) => {
      const type = parameters.get('type');
      const stream = parameters.get('stream');
      const before = wholeNumber(parameters.get('before'), 'before', Number.MAX_SAFE_INTEGER);
      const letters = await new DeadLetters(accessTo(schemaIn(parameters))).list({
        limit: pageSize,
        ...(before === undefined ? {} : { before }),
        ...(type ? { type: textOf(type, 'type') } : {}),
        ...(stream ? { streamId: streamOf(stream, 'stream') } : {}),
      });
      return {
        letters: letters.map(({ payload: _, scope: __, failures: ___, error, ...letter }) => ({
          ...letter,
          error: error.split('\n', 1)[0]?.slice(0, 500),
        })),
      };
    },

    'dead-letter-groups': async (parameters, signal) => ({
      groups: await reader.read(schemaIn(parameters), deadLetterGroups, signal),
    }),

    clockwork: (parameters, signal) =>
      reader.read(
        schemaIn(parameters),
        async (db, schema) => ({
          schedules: await listSchedules(db, schema),
          timers: (await listTimers(db, schema, firstTimers)).map(({ scope: _, ...timer }) => timer),
        }),
        signal,
      ),

    perspectives: (parameters, signal) =>
      reader.read(
        schemaIn(parameters),
        async (db, schema) => ({ perspectives: await perspectiveStatus(db, schema) }),
        signal,
      ),

    search: async (parameters, signal) => {
      const [schema, text] = [schemaIn(parameters), textOf(parameters.get('text')?.trim(), 'text')];
      const message = isUuid(text) ? await find(schema, text) : undefined;
      return reader.read(
        schema,
        async (db, quoted) => ({
          message:
            message === undefined || message.state === 'unknown'
              ? null
              : { messageId: message.messageId, state: message.state },
          stream: await oneStream(db, quoted, streamOf(text, 'text')),
          types: isUuid(text) ? [] : await searchType(db, quoted, text),
          searchedMessages,
        }),
        signal,
      );
    },
  };
}

function masked({ mask }: ResolvedDashboardOptions, schema: string, message: StoredMessage): unknown {
  const { messageId, type = '', payload } = message;
  if (payload === undefined) throw new Refusal(404, 'There is no payload of this message any more.');
  return typeof mask === 'function' ? mask(payload, { messageId, type, schema }) : payload;
}

function traceUrlOf(template: string | undefined, traceparent: string | null | undefined): string | null {
  const traceId = /^[0-9a-f]{2}-([0-9a-f]{32})-/.exec(traceparent ?? '')?.[1];
  return template === undefined || traceId === undefined ? null : template.replaceAll('{traceId}', traceId);
}
