// What perspectives announce in a schedule: noted by a trigger before anybody looks whether it was sent before, and
// judged by the events alone.
import { expect } from 'vitest';
import type { TestDatabase } from '../../support/database.js';
import type { EventOfStore } from './perspective-judge.js';
import type { PerspectiveLedger } from './perspective-ledger.js';

export async function logAnnouncements(db: TestDatabase): Promise<void> {
  await db.pool.query(`
    create table announced (message_id uuid, by text, label text);
    create function log_announced() returns trigger language plpgsql as $$ begin
      if new.event_type = 'Noted' then
        insert into public.announced values (new.message_id, new.event_data ->> 'by', new.event_data ->> 'label');
      end if;
      return new; end $$;
    create trigger log_announced before insert on wh_outbox for each row execute function log_announced();
    create trigger log_announced before insert on wh_inbox for each row execute function log_announced()`);
}

/** Each event that was not there before the perspective is announced once for each model that it has changed. */
export async function judgeAnnouncements(
  db: TestDatabase,
  name: string,
  events: readonly EventOfStore[],
  ledger: PerspectiveLedger,
): Promise<void> {
  const { rows } = await db.pool.query<{ label: string; messages: number; times: number }>(
    `select label, count(distinct message_id)::int as messages, count(*)::int as times from announced where by = $1 group by label`,
    [name],
  );
  expect(
    rows.filter(({ messages, times }) => messages !== times),
    `${name} announced twice`,
  ).toEqual([]);
  const counts = new Map(rows.map(({ label, messages }) => [label, messages]));
  for (const { event_id, stream_id, event_type, event_data } of events) {
    const models = name === 'keyed' || name === 'loose' ? event_data.keys : [''];
    const isQuiet = event_type === 'Ended' || ledger.isHistory(name, event_id);
    const isSure = (key: string) => !ledger.isUncertain(name, event_id, stream_id, key);
    const [least, most] = isQuiet ? [0, 0] : [models.filter(isSure).length, models.length];
    const count = counts.get(event_data.label) ?? 0;
    expect(count, `${name} announced ${event_data.label}, at least ${least}`).toBeGreaterThanOrEqual(least);
    expect(count, `${name} announced ${event_data.label}, at most ${most}`).toBeLessThanOrEqual(most);
    counts.delete(event_data.label);
  }
  expect([...counts], `${name} announced what did not happen`).toEqual([]);
}
