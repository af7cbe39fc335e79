import { createHash } from 'node:crypto';
import { WhizbangError } from '../../errors.js';

interface NameRules {
  /** The longest name that the broker takes, in characters. */
  readonly max: number;
  /** Characters that the broker takes beside letters, digits, `-` and `_`. */
  readonly also?: string | undefined;
  /** Whether the broker takes `Orders` and `orders` for the same. */
  readonly caseless?: boolean | undefined;
}

const hashLength = 32;
/** Most addresses, of which every message has one. */
const needsNoEscape = /^[a-z0-9-]+$/;

/**
 * Spells an address as a name that a broker takes. Two addresses never have the same name. Letters, digits and `-` stay
 * as they are, `_` becomes `__`, and any other character becomes `_` and two hexadecimal digits for each of its bytes in
 * UTF-8. A name that is too long is cut and ends in `_h` and a hash of the address. Throws INVALID_OPTION for an
 * address that is empty or no well-formed text.
 */
export function addressName(address: string, { max, also = '', caseless = false }: NameRules): string {
  if (address.length <= max && needsNoEscape.test(address)) return address;
  if (address === '' || !address.isWellFormed()) {
    throw new WhizbangError('INVALID_OPTION', {
      message: `The address ${JSON.stringify(address)} cannot be a name at a broker: it is ${address === '' ? 'empty' : 'not well-formed text'}.`,
      hint: 'Addresses are names of services and topics of events: give them a name that can be read.',
      details: { option: 'address', value: address },
    });
  }
  const stays = (character: string) =>
    /^[A-Za-z0-9-]$/.test(character) ? !(caseless && /[A-Z]/.test(character)) : also.includes(character);
  const name = Array.from(address, (character) => {
    if (character === '_') return '__';
    return stays(character)
      ? character
      : Buffer.from(character).reduce((text, byte) => text + escapeOf(byte), '');
  }).join('');
  if (name.length <= max) return name;
  const hash = createHash('sha256').update(address).digest('hex').slice(0, hashLength);
  return `${name.slice(0, max - hashLength - 2)}_h${hash}`;
}

const escapeOf = (byte: number) => `_${byte.toString(16).padStart(2, '0')}`;
