// Dead letters in groups by type and error: what an operator acts on.
import type { Queryable } from '../../database/index.js';
import { rowsOf } from './reader.js';

export function deadLetterGroups(db: Queryable, schema: string): Promise<object[]> {
  return rowsOf(
    db,
    `select lane, event_type as type, destination, error, letters::text, first_died_at as "firstDiedAt", last_died_at as "lastDiedAt",
       last_message_id as "lastMessageId"
     from ${schema}.wh_dead_letter_summary order by letters desc, last_died_at desc limit 200`,
  );
}
