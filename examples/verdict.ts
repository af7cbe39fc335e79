import type pg from 'pg';

export interface Verdict {
  readonly claim: string;
  readonly holds: boolean;
  readonly found: string;
}

/** What the demo promised, looked up in the database and nowhere else (but for the refusal, which leaves no trace). */
export async function judge(pool: pg.Pool, schema: string, lateReportRefused: boolean): Promise<Verdict[]> {
  const { rows } = await pool.query(`
    select (select count(*)::int from ${schema}.deliveries) as delivered,
           (select count(distinct message_id)::int from ${schema}.deliveries) as distinct_delivered,
           (select count(*)::int
              from (select step, lag(step, 1, 0) over (partition by stream_id order by n) as previous
                      from ${schema}.deliveries) d
             where step <> previous + 1) as out_of_order,
           (select count(*)::int from ${schema}.wh_outbox) as waiting,
           (select count(*)::int from ${schema}.wh_active_streams) as streams,
           (select count(*)::int from ${schema}.wh_dead_letters) as dead,
           (select string_agg(versions, ' / ')
              from (select string_agg(version::text, ' ' order by version) as versions
                      from ${schema}.wh_event_store group by stream_id) s) as versions,
           (select count(*)::int from ${schema}.wh_service_instances) as instances`);
  const found = rows[0] as Record<string, number> & { versions: string };
  return [
    verdict('every committed message was delivered', found.delivered === 10, `${found.delivered} of 10`),
    verdict(
      'none was delivered twice',
      found.distinct_delivered === found.delivered,
      `${found.distinct_delivered} ids`,
    ),
    verdict(
      'every order was delivered step by step',
      found.out_of_order === 0,
      `${found.out_of_order} out of order`,
    ),
    verdict(
      'nothing is left waiting or dead',
      found.waiting === 0 && found.dead === 0,
      `${found.waiting} and ${found.dead}`,
    ),
    verdict('no stream is left open', found.streams === 0, `${found.streams} open`),
    verdict(
      'the event store has each order without a gap',
      found.versions === '1 2 3 / 1 2 3 / 1 2 3',
      found.versions,
    ),
    verdict(
      'the late report of the crashed instance was refused',
      lateReportRefused,
      lateReportRefused ? 'refused' : 'applied',
    ),
    verdict('both instances have said goodbye', found.instances === 0, `${found.instances} registered`),
  ];
}

const verdict = (claim: string, holds: boolean, found: string): Verdict => ({ claim, holds, found });
