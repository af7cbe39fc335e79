// Streams: those that wait longest come from the head of an index; the deepest are counted, when somebody asks for them.
import type { Queryable } from '../../database/index.js';
import { statusOfFound, waitingStreams } from '../../operate/index.js';
import { rowsOf } from './reader.js';

const columns = `s.lane, s.stream_id as "streamId", s.partition_number as partition, s.state, s.due_at as "dueAt", s.held_by as "heldBy",
  s.lease_expiry as "leaseExpiry", s.waits_for as "waitsFor", s.first_message_id as "firstMessageId", s.first_type as "firstType",
  s.first_attempts as "firstAttempts", s.first_stored_at as "firstStoredAt", s.first_error as "firstError", s.depth::text as depth`;

interface StreamChoice {
  readonly lane: 'outbox' | 'inbox' | undefined;
  readonly limit: number;
}

export function longestWaiting(
  db: Queryable,
  schema: string,
  { lane, limit }: StreamChoice,
): Promise<object[]> {
  return rowsOf(
    db,
    `select ${columns} from (${waitingStreams(schema, lane, '$1')}) f ${statusOfFound(schema)}
     order by s.due_at nulls last, s.stream_id`,
    [limit],
  );
}

/** The depth is exact here: it reads an entry of an index for each message that waits. */
export function deepest(db: Queryable, schema: string, { lane, limit }: StreamChoice): Promise<object[]> {
  const depths = (lane === undefined ? ['outbox', 'inbox'] : [lane]).map(
    (of) => `
      (select kept_in as lane, stream_id, count(*) as depth from ${schema}.wh_messages
       where kept_in = '${of}' group by 1, 2 order by 3 desc, 2 limit $1)`,
  );
  return rowsOf(
    db,
    `select ${columns.replace('s.depth::text', 'f.depth::text')}
     from (select * from (${depths.join(' union all ')}) d order by depth desc, stream_id limit $1) f
     ${statusOfFound(schema)}
     order by f.depth desc, s.stream_id`,
    [limit],
  );
}

/** A stream in both lanes, and its first messages. */
export async function oneStream(db: Queryable, schema: string, streamId: string): Promise<object> {
  const lanes = await rowsOf(
    db,
    `select ${columns} from ${schema}.wh_stream_status s where s.stream_id = $1::uuid order by s.lane desc`,
    [streamId],
  );
  const messages = await rowsOf(
    db,
    `select kept_in as "keptIn", message_id as "messageId", event_type as type, target, attempts, stored_at as "storedAt", error
     from ${schema}.wh_messages where stream_id = $1::uuid order by sequence_order nulls last, message_id limit 100`,
    [streamId],
  );
  return { streamId, lanes, messages };
}
