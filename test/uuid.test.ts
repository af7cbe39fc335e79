import { describe, expect, it } from 'vitest';
import { isGivenUuid, isUuid, nilUuid } from '../src/uuid.js';

const id = '0197f3a2-5c1e-7d4b-9a36-8e0f12ab34cd';

describe('A UUID', () => {
  it.each([id, id.toUpperCase(), nilUuid])('a UUID is written in 36 characters: %s', (value) => {
    expect(isUuid(value)).toBe(true);
  });

  it.each([id.replaceAll('-', ''), `{${id}}`, `${id} `, id.slice(1), '', 7, null, undefined])(
    'a UUID has no other form, although PostgreSQL reads some: %s',
    (value) => {
      expect(isUuid(value)).toBe(false);
    },
  );

  it('a UUID of zeros is not accepted as given: it is a variable that was never set', () => {
    expect(isGivenUuid(id)).toBe(true);
    expect(isGivenUuid(nilUuid)).toBe(false);
  });
});
