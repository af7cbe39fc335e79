import * as v from 'valibot';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { defineEvent } from '../../src/index.js';
import { newMessageId } from '../../src/message-id.js';
import { readPayload, refuseLasting, seal, subjectOf, unseal } from '../../src/messages/index.js';

const schema = z.object({ id: z.string(), email: z.email(), at: z.coerce.date() });
const subject = ({ id }: { id: string }) => id;
const Met = defineEvent('Met', { schema, sealed: { subject, fields: ['email'] } });
const json = { id: 'a', email: 'a@example.com', at: '2026-11-17T08:00:00Z' };
const key = { keyId: newMessageId(), key: new Uint8Array(32).fill(7) };

describe('The option sealed of defineEvent', () => {
  it('the type of a sealed field allows null for readers, and not for senders', () => {
    type Payload = NonNullable<Awaited<ReturnType<typeof read>>>;
    const read = () => readPayload(Met, json, 1);
    expectTypeOf<Payload>().toEqualTypeOf<{ id: string; email: string | null; at: Date }>();
    // @ts-expect-error: a sender has to give it
    Met({ id: 'a', email: null, at: '2026-11-17' });
  });

  it('a field that the payload does not have is refused by the types and when it is sent', () => {
    // @ts-expect-error: there is no such field
    const Wrong = defineEvent('Wrong', { schema, sealed: { subject, fields: ['mail'] } });
    const message = { id: newMessageId(), type: 'Wrong', json };
    expect(() => seal(Wrong.sealed as never, message, key)).toThrow(
      'Wrong: mail: is a sealed field, and the payload does not have it.',
    );
  });

  it.each([
    ['sealed is not an object', 'email'],
    ['sealed.subject is not a function', { fields: ['email'] }],
    ['sealed.fields is not a list', { subject, fields: [] }],
    ['sealed.fields is not a list', { subject, fields: 'email' }],
    ['there is no option field. Did you mean', { subject, field: ['email'] }],
    ['sealed.standIns has phone, which', { subject, fields: ['email'], standIns: { phone: '1' } }],
  ])('a definition is refused where %s', (fact, sealed) => {
    const define = () => defineEvent('Wrong', { schema, sealed: sealed as never });
    expect(define).toThrow(fact.split(' Did you')[0]);
    expect(define).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
  });

  it.each([
    ['no text', () => 7],
    ['no text', () => undefined],
    ['an empty text', () => ''],
    ['no valid text', () => 'a\0'],
    ['threw an error', () => (json as never as { no: { such: string } }).no.such],
  ])('a subject is refused when its function gives %s', (fact, wrong) => {
    const { sealed } = defineEvent('Met', { schema, sealed: { subject: wrong as never, fields: ['email'] } });
    expect(() => subjectOf(sealed as never, 'Met', json)).toThrow(fact);
  });
});

describe('A sealed payload', () => {
  const message = { id: newMessageId(), type: 'Met', json };
  const { json: stored, sealed } = seal(Met.sealed as never, message, key);
  const keys = new Map([[key.keyId, key.key]]);

  it('a sealed payload has null instead of the value, and is the same again when it is opened', () => {
    expect(stored).toEqual({ ...json, email: null });
    expect(JSON.stringify(sealed)).not.toContain('example');
    expect(unseal({ ...message, json: stored, metadata: { sealed } }, keys)).toEqual({ json, erased: [] });
  });

  it('a sealed field without its key is erased', () => {
    const opened = unseal({ ...message, json: stored, metadata: { sealed } }, new Map());
    expect(opened).toEqual({ json: stored, erased: ['email'] });
  });

  it('a sealed value is refused as another field, in another event and when a bit of it has changed', () => {
    const { key: keyId, fields } = sealed;
    const text = fields.email as string;
    const changed = `${text.slice(0, 20)}${text[20] === 'A' ? 'B' : 'A'}${text.slice(21)}`;
    const open = (id: string, moved: Record<string, string>) =>
      unseal({ ...message, id, json: stored, metadata: { sealed: { key: keyId, fields: moved } } }, keys);
    expect(() => open(message.id, { id: text })).toThrow('Met: id: is sealed, and was changed since');
    expect(() => open(newMessageId(), { email: text })).toThrow('Met: email: is sealed');
    expect(() => open(message.id, { email: changed })).toThrow('Met: email: is sealed');
  });
});

describe('An erased field', () => {
  const strict = {
    text: z.string().min(3),
    link: z.url(),
    year: z.number().int().min(1),
    born: z.iso.date().transform((day) => new Date(day)),
    address: z.object({ street: z.string(), lines: z.array(z.object({ n: z.number() })).min(1) }),
    agreed: z.literal(true),
    note: z.string().nullable(),
  };
  const fields = Object.keys(strict) as (keyof typeof strict)[];

  it('an erased field reads as null whatever its schema, and other fields are made by it', async () => {
    const Strict = defineEvent('Strict', {
      schema: z.object({ id: z.string(), at: z.coerce.date(), ...strict }),
      sealed: { subject, fields },
    });
    const erased = { id: 'a', at: '2026-11-17', ...Object.fromEntries(fields.map((field) => [field, null])) };
    await refuseLasting(Strict, erased);
    for (const _ of [1, 2]) {
      expect(await readPayload(Strict, erased, 1, fields)).toEqual({ ...erased, at: new Date('2026-11-17') });
    }
  });

  it('an erased field of valibot reads as null', async () => {
    const schema = v.object({
      id: v.string(),
      email: v.pipe(v.string(), v.email()),
      n: v.optional(v.number(), 1),
    });
    const Valid = defineEvent('Valid', { schema, sealed: { subject, fields: ['email'] } });
    expect(await readPayload(Valid, { id: 'a', email: null }, 1, ['email'])).toEqual({
      id: 'a',
      email: null,
      n: 1,
    });
  });

  it('an upcaster gets a stand-in for an erased field, and the field under its new name reads as null', async () => {
    const Renamed = defineEvent('Renamed', {
      schema: z.object({ id: z.string(), mail: z.string() }),
      version: 2,
      upcast: { 1: ({ id, email }: { id: string; email: string }) => ({ id, mail: email.toLowerCase() }) },
      sealed: { subject, fields: ['mail'] },
    });
    expect(await readPayload(Renamed, { id: 'a', email: null }, 1, ['email'])).toEqual({
      id: 'a',
      mail: null,
    });
  });

  it('a schema that accepts no stand-in is refused when the event is sent, unless one is given', async () => {
    const schema = z.object({ id: z.string(), iban: z.string().regex(/^DE\d{20}$/) });
    const Bare = defineEvent('Paid', { schema, sealed: { subject, fields: ['iban'] } });
    await expect(refuseLasting(Bare, { id: 'a', iban: null })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: 'defineEvent("Paid"): the schema refuses the payload once iban is erased.',
    });
    const standIns = { iban: `DE${'0'.repeat(20)}` };
    const Given = defineEvent('Paid', { schema, sealed: { subject, fields: ['iban'], standIns } });
    await refuseLasting(Given, { id: 'a', iban: null });
    expect(await readPayload(Given, { id: 'a', iban: null }, 1, ['iban'])).toEqual({ id: 'a', iban: null });
  });

  it('a fault of another field is reported as it is, with the path of that field', async () => {
    const read = async () => readPayload(Met, { id: 7, email: null, at: '2026-11-17' }, 1, ['email']);
    await expect(read()).rejects.toMatchObject({
      code: 'INVALID_MESSAGE',
      details: { issues: expect.arrayContaining([expect.objectContaining({ path: 'id' })]) },
    });
  });
});
