// The perspectives of the property test: their models are lists of labels, so that what is missing, doubled or out of
// order shows. Each label can be made to fail in a perspective, and healed again.
import { z } from 'zod';
import type { Queryable } from '../../../src/database/index.js';
import { defineEvent, keyedPerspective, perspective, perspectiveFor } from '../../../src/index.js';

const schema = z.object({ label: z.string(), keys: z.array(z.string()) });
type Payload = z.infer<typeof schema>;

const Begun = defineEvent('Begun', { schema, stream: ({ label }) => label });
const Added = defineEvent('Added', { schema, stream: ({ label }) => label });
const Ended = defineEvent('Ended', { schema, stream: ({ label }) => label });
const Noted = defineEvent('Noted', {
  schema: z.object({ by: z.string(), label: z.string() }),
  stream: ({ by }) => by,
});

export type EventName = 'Begun' | 'Added' | 'Ended';

/** Where a label fails: in a function of `one`, `inline`, `keyed`, `custom` or `loose`, in its key, or in PostgreSQL. */
export const troubles = ['one', 'refused', 'inline', 'keyed', 'custom', 'loose', 'key'] as const;
type Trouble = (typeof troubles)[number];

/** The labels that fail now. */
export class Troubles {
  readonly #labels = new Set<string>();

  add(trouble: Trouble, label: string): void {
    this.#labels.add(`${trouble} ${label}`);
  }

  heal(): void {
    this.#labels.clear();
  }

  has(trouble: Trouble, { label }: Payload): boolean {
    return this.#labels.has(`${trouble} ${label}`);
  }

  check(trouble: Trouble, payload: Payload): void {
    if (this.has(trouble, payload)) throw new Error(`${trouble} fails at ${payload.label}`);
  }
}

/** How a version of the code writes a label into its models: so they show whose they are. */
export const written = (label: string, version: number) => label + "'".repeat(version - 1);
const labelOf = (text: string) => text.replaceAll("'", '');

/** A version of all perspectives. All but the inline one announce each event that they have applied. */
export function perspectivesWith(troubles: Troubles, version: number) {
  const list = z.object({ labels: z.array(z.string()), size: z.number() });
  const added = (trouble: Trouble) => (labels: readonly string[], payload: Payload) => {
    troubles.check(trouble, payload);
    const all = [...labels, written(payload.label, version)];
    // A column of whole numbers refuses half a one.
    const isRefused = trouble === 'one' && troubles.has('refused', payload);
    return { labels: all, size: all.length + (isRefused ? 0.5 : 0) };
  };
  const noted = (by: string) => (model: { labels: string[] }) => ({
    by,
    label: labelOf(model.labels.at(-1) ?? ''),
  });
  const ofStream = (name: Trouble, inline: boolean) =>
    perspective(name, { model: list, columns: { size: 'int' }, inline, version })
      .starts(Begun, (payload) => added(name)([], payload))
      .on(Added, ({ labels }, payload) => added(name)(labels, payload))
      .ends(Ended);
  const ofKeys = (name: Trouble) => {
    const keysOf = (payload: Payload) => {
      if (name === 'loose') troubles.check('key', payload);
      return payload.keys;
    };
    const add = ({ labels }: { labels: string[] }, payload: Payload) => added(name)(labels, payload);
    const initial = { labels: [], size: 0 };
    return keyedPerspective(name, { model: list, columns: { size: 'int' }, initial, version })
      .on(Begun, keysOf, add)
      .on(Added, keysOf, add)
      .announces(Noted, noted(name));
  };
  const custom = perspectiveFor<Queryable>()('custom', { version });
  const note: Parameters<typeof custom.on<Payload>>[1] = async (payload, { tx, event, publish }) => {
    const text = 'insert into applied (event_id, version) values ($1, $2)';
    await tx.query(text, [event.eventId, version]);
    troubles.check('custom', payload);
    await publish(Noted({ by: 'custom', label: payload.label }));
  };
  return [
    ofStream('one', false).announces(Noted, noted('one')),
    ofStream('inline', true),
    ofKeys('keyed'),
    ofKeys('loose'),
    custom.on(Begun, note).on(Added, note),
  ] as const;
}
