import { type Queryable, quoteSchema } from '../database/index.js';
import { peekLedger } from './ledger.js';
import { planMigration } from './plan.js';
import { currentRelease } from './release.js';
import { withoutSquashed } from './squashed.js';

/** The names of what `migrate` would apply or remove. It changes nothing. */
export async function pendingIn(db: Queryable, schema: string): Promise<string[]> {
  const release = currentRelease();
  const ledger = withoutSquashed(await peekLedger(db, quoteSchema(schema)), release);
  const { migrations, types, functions, views, obsolete } = planMigration(release, ledger);
  return [migrations, types, functions, views, obsolete].flat().map(({ name }) => name);
}
