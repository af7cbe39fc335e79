import type { Queryable } from '../database/index.js';
import type { EventRow } from '../fold/index.js';

/** Opens the sealed fields of events: those whose subject was forgotten are null. */
export interface OpenEvents {
  /** `db`, `holds`: what is made of them is written in this transaction, and nobody forgets them before it ends. */
  openEvents<Row extends EventRow>(
    rows: readonly Row[],
    opening?: { readonly db?: Queryable; readonly holds?: boolean },
  ): Promise<readonly Row[]>;
}
