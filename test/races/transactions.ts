// Sessions as the races need them: one with an open transaction, one that never waits for a lock. Called by the races.
import type pg from 'pg';
import type { TestDatabase } from '../support/database.js';
import { openSession, type Session } from '../support/sessions.js';

/** A session with a transaction that the test ends. */
export async function begin(db: TestDatabase): Promise<Session & Pick<pg.Client, 'query'>> {
  const session = await openSession(db);
  await session.client.query('begin');
  return Object.assign(session, { query: session.client.query.bind(session.client) as pg.Client['query'] });
}

/** A connection on which a statement that waits for a lock that somebody keeps fails; not for one that is held for a moment, on a busy machine. */
export async function impatient(db: TestDatabase): Promise<pg.Client> {
  const { client } = await openSession(db);
  await client.query("set lock_timeout = '5s'");
  return client;
}

/** A call that stores and reports, and asks for nothing. */
export const noRoom = { p_max_outbox_items: 0, p_max_inbox_items: 0 };

/** Unleased work may be taken by any instance at once. */
export const takeover = { p_takeover_seconds: 0 };
