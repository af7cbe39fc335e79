import { receptor } from '../../src/index.js';
import type { TestDatabase } from '../support/database.js';
import { OrderPlaced } from './service.js';

/** Makes receptors of OrderPlaced that note their runs, as `name attempt`, and throw what they are told to. */
export function noting() {
  const runs: string[] = [];
  const make = (name: string, options: object = {}, fails: (attempt: number) => unknown = () => undefined) =>
    receptor(OrderPlaced, { name, ...options }, (_, { attempt }) => {
      runs.push(`${name} ${attempt}`);
      const error = fails(attempt);
      if (error !== undefined) throw error;
    });
  return { runs, make };
}

interface Recorded {
  readonly name: string;
  readonly state: 'done' | 'waits' | 'given up';
  readonly attempts: number;
  readonly error: string | null;
}

/** What the receptors of all messages have reported, by name. Of the error only the first line. */
export async function recordsIn({ pool }: TestDatabase): Promise<Recorded[]> {
  const { rows } = await pool.query(`
    select receptor_name as name, attempts, split_part(error, E'\\n', 1) as error,
      case when processed_at is not null then 'done' when given_up_at is not null then 'given up' else 'waits' end as state
    from wh_receptor_processing
    order by 1`);
  return rows as Recorded[];
}
