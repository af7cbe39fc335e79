// Every field of every list: a value that cannot be read is refused by its name, and nothing has changed.
import { describe, expect } from 'vitest';
import type { TestDatabase } from '../support/database.js';
import { contents, type Instance, it, type Parameters } from '../support/work.js';

/** What is no value of a type. */
const wrong: Record<string, unknown[]> = {
  uuid: ['not-a-uuid', '', 42, true, {}, ['0190aaaa-0000-7000-8000-000000000001']],
  text: [42, true, {}, ['orders']],
  json: [],
  boolean: ['perhaps', 'true', 1, {}],
  timestamptz: ['some day', 42, true, {}],
  status: [-1, 1.5, '4', 2 ** 31, true, {}],
  version: [-1, 1.5, '4', 1e20, true, {}],
  number: ['soon', '5', true, {}],
};

/** The fields of a list with their types; ! where a value is needed. */
const completion = { message_id: 'uuid!', status: 'status!' };
const failure = {
  message_id: 'uuid!',
  completed_status: 'status',
  error: 'text',
  retry_after_seconds: 'number',
  dead_letter: 'boolean',
  counted: 'boolean',
};
const receptor = {
  event_id: 'uuid!',
  receptor_name: 'text!',
  status: 'status!',
  error: 'text',
  took_seconds: 'number',
  retry_after_seconds: 'number',
  given_up: 'boolean',
};
const perspective = {
  stream_id: 'uuid!',
  perspective_name: 'text!',
  last_event_id: 'uuid',
  status: 'status!',
  error: 'text',
};
const newMessage = {
  message_id: 'uuid!',
  event_type: 'text!',
  event_data: 'json!',
  metadata: 'json',
  scope: 'json',
  stream_id: 'uuid',
  is_event: 'boolean',
  scheduled_for: 'timestamptz',
  delay_seconds: 'number',
  expected_version: 'version',
};

const lists = Object.entries({
  p_outbox_completions: completion,
  p_inbox_completions: completion,
  p_outbox_failures: failure,
  p_inbox_failures: failure,
  p_receptor_completions: receptor,
  p_receptor_failures: receptor,
  p_perspective_completions: perspective,
  p_perspective_failures: perspective,
  p_new_outbox_messages: { destination: 'text!', ...newMessage },
  p_new_inbox_messages: { handler_name: 'text!', ...newMessage },
} as Record<keyof Parameters, Record<string, string>>);

/** A good item of these fields. */
function good(fields: Record<string, string>): Record<string, unknown> {
  const right: Record<string, () => unknown> = {
    uuid: () => crypto.randomUUID(),
    text: () => 'words',
    json: () => ({ any: 'thing' }),
    boolean: () => false,
    timestamptz: () => '2020-01-01T00:00:00Z',
    status: () => 8,
    version: () => 0,
    number: () => 0.5,
  };
  return Object.fromEntries(
    Object.entries(fields).map(([key, type]) => [key, right[type.replace('!', '')]?.()]),
  );
}

async function expectRefusal(db: TestDatabase, a: Instance, parameters: Parameters, field: string) {
  const before = await contents(db);
  const raised = await a.call(parameters).then(
    () => ({ code: 'not refused' }),
    (error: unknown) => error,
  );
  expect(raised).toMatchObject({ code: 'WB001', column: field, message: expect.stringContaining(field) });
  expect(await contents(db)).toEqual(before);
}

describe.each(lists)('%s', (name, fields) => {
  const withItem = (item: unknown): Parameters => ({ [name]: [good(fields), item] });

  it(`${name} accepts a good item`, async ({ a }) => {
    await a.call({ [name]: [good(fields)] });
  });

  const values = Object.entries(fields).flatMap(([key, type]) =>
    (wrong[type.replace('!', '')] ?? []).map((value) => [key, value] as const),
  );
  it.for(values)(`${name} refuses an item whose %s is %j`, async ([key, value], { db, a }) => {
    await expectRefusal(db, a, withItem({ ...good(fields), [key]: value }), `${name}[1].${key}`);
  });

  const needed = Object.keys(fields).filter((key) => fields[key]?.endsWith('!'));
  it.for(needed)(`${name} refuses an item without %s`, async (key, { db, a }) => {
    const { [key]: _, ...rest } = good(fields);
    await expectRefusal(db, a, withItem(rest), `${name}[1].${key}`);
  });
  it.for(needed)(`${name} refuses an item whose %s is null`, async (key, { db, a }) => {
    await expectRefusal(db, a, withItem({ ...good(fields), [key]: null }), `${name}[1].${key}`);
  });

  const optional = Object.keys(fields).filter((key) => !fields[key]?.endsWith('!'));
  it(`${name} accepts null and nothing at all for optional fields`, async ({ a }) => {
    const nulls = Object.fromEntries(optional.map((key) => [key, null]));
    const bare = Object.fromEntries(Object.entries(good(fields)).filter(([key]) => !optional.includes(key)));
    await a.call({ [name]: [{ ...good(fields), ...nulls }, bare] });
  });

  it(`${name} refuses an item with an unknown key`, async ({ db, a }) => {
    await expectRefusal(db, a, withItem({ ...good(fields), messageId: 1 }), `${name}[1].messageId`);
  });

  it.for([42, 'words', null, true, [[]]])(`${name} refuses %j as an item`, async (item, { db, a }) => {
    await expectRefusal(db, a, withItem(item), `${name}[1]`);
  });

  it.for(['{}', '"words"', '42', 'true', 'null'])(
    `${name} refuses %s as the list`,
    async (json, { db, a }) => {
      await expectRefusal(db, a, { [name]: json }, name);
    },
  );
});
