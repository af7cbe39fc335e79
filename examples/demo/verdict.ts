// Whether all promises were kept, judged only by the database at the end: what the shop's transactions
// committed, what the receptors' transactions wrote, and what whizbang's tables hold.
import type pg from 'pg';
import type { World } from './world.js';

export interface Verdict {
  readonly holds: boolean;
  readonly claim: string;
  readonly found: string;
}

const question = ({ shop, warehouse }: World) => `
  with stored as (select * from ${shop}.steps),
  effects as (select * from ${warehouse}.effects),
  dead as (select * from ${warehouse}.wh_dead_letters),
  delivered as (select * from ${warehouse}.wh_message_deduplication),
  going as ( -- of every stream that somebody held when he was interrupted: when another one went on with it
    select i.what, extract(epoch from min(e.at) - i.at)::float as after
    from ${warehouse}.interruptions i
    join effects e on e.stream_id = any(i.streams) and e.at > i.at and e.instance <> i.instance
    join stored s on s.message_id = e.message_id and s.at < i.at
    group by i.what, i.at, e.stream_id
  )
  select
    (select count(*)::int from stored) as stored,
    (select count(distinct stream_id)::int from stored) as streams,
    (select count(*)::int from stored join delivered using (message_id)) as delivered,
    (select count(distinct message_id)::int from effects) as effects,
    (select count(*)::int from stored join dead using (message_id) where is_doomed) as dead,
    (select coalesce(sum(attempt - 1), 0)::int from effects)
      + (select coalesce(sum(attempts), 0)::int from dead) as retries,
    (select count(*)::int from stored s where not exists (select from effects e where e.message_id = s.message_id)
       and not (s.is_doomed and exists (select from dead d where d.message_id = s.message_id))) as lost,
    (select count(*) - count(distinct message_id) from effects)::int
      + (select count(*)::int from dead join effects using (message_id)) as doubled,
    (select count(*)::int from (
       select step, max(step) over (partition by stream_id order by n rows between unbounded preceding and 1 preceding) as before
       from effects) o where step < before)
      + (select count(*)::int from dead d join stored s using (message_id)
         join effects e on e.stream_id = s.stream_id and e.step > s.step and e.at < d.died_at) as disorder,
    (select count(*)::int from ${shop}.rolled_back r where exists (select from delivered d where d.message_id = r.message_id)
       or exists (select from effects e where e.message_id = r.message_id)) as undead,
    (select count(*)::int from effects e where not exists (select from stored s where s.message_id = e.message_id)) as invented,
    (select count(*)::int from ${shop}.rolled_back) as rolled_back,
    (select count(*)::int from stored where is_last and not is_doomed) as to_ship,
    (select count(*)::int from ${shop}.shipped) as answers,
    (select count(distinct order_id)::int from ${shop}.shipped) as shipped,
    (select count(*)::int from (select from ${shop}.wh_outbox union all select from ${shop}.wh_inbox
       union all select from ${warehouse}.wh_outbox union all select from ${warehouse}.wh_inbox) w) as waiting,
    (select count(*)::int from ${warehouse}.late l where not exists (select from effects e where e.n = l.n)) as refused,
    (select count(*)::int from ${warehouse}.late l join effects e using (n)
       where (select count(*) from effects o where o.message_id = l.message_id) > 1) as late_doubled,
    (select json_object_agg(i.what, json_build_object('held', cardinality(i.streams),
       'going', (select count(*) from going g where g.what = i.what),
       'first', (select min(g.after) from going g where g.what = i.what),
       'last', (select max(g.after) from going g where g.what = i.what))) from ${warehouse}.interruptions i) as interruptions`;

interface Interruption {
  readonly held: number;
  readonly going: number;
  readonly first: number | null;
  readonly last: number | null;
}

type Found = Record<string, number> & { interruptions: Record<string, Interruption> | null };

export async function judge(pool: pg.Pool, world: World, expected: number): Promise<Verdict[]> {
  const { rows } = await pool.query(question(world));
  const f = rows[0] as Found;
  const n = (name: string) => f[name] as number;
  const none = (claim: string, name: string): Verdict => verdict(n(name) === 0, claim, `${n(name)}`);
  return [
    verdict(
      n('stored') === expected,
      'stored',
      `${n('stored')} of ${expected} messages in ${n('streams')} streams`,
    ),
    verdict(n('delivered') === n('stored'), 'delivered', `${n('delivered')} of ${n('stored')}`),
    verdict(
      n('effects') + n('dead') === n('stored'),
      'handled',
      `${n('effects')} with effect, ${n('dead')} given up as expected; ${n('retries')} attempts failed or were interrupted`,
    ),
    none('lost', 'lost'),
    none('effects doubled', 'doubled'),
    none('order violations', 'disorder'),
    verdict(
      n('undead') + n('invented') === 0,
      'handled but never committed',
      `${n('undead') + n('invented')}, ${n('rolled_back')} were rolled back`,
    ),
    verdict(
      n('shipped') === n('to_ship') && n('answers') === n('to_ship'),
      'answered by the receptors',
      `${n('answers')} answers for ${n('shipped')} of ${n('to_ship')} orders`,
    ),
    none('left waiting', 'waiting'),
    recovery('recovery after the kill', f.interruptions?.kill),
    recovery('recovery after the stall', f.interruptions?.stall),
    verdict(
      n('refused') > 0 && n('late_doubled') === 0,
      'late completions refused',
      `${n('refused')}, ${n('late_doubled')} accepted although another instance had completed the message`,
    ),
  ];
}

/**
 * The time from the interruption to the first effect of another instance in a stream that the interrupted one
 * held.
 */
function recovery(claim: string, interruption: Interruption | undefined): Verdict {
  const { held, going, first, last } = interruption ?? { held: 0, going: 0, first: null, last: null };
  if (first === null || last === null)
    return verdict(false, claim, `no recovery; the instance held ${held} streams`);
  return verdict(
    true,
    claim,
    `${first.toFixed(1)} s to the first, ${last.toFixed(1)} s to the last of ${going} streams that other instances took over`,
  );
}

const verdict = (holds: boolean, claim: string, found: string): Verdict => ({ holds, claim, found });
