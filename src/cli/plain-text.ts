import { stripVTControlCharacters } from 'node:util';

/**
 * Texts of others, such as the error of a handler, may hold what a terminal obeys. Controls, and marks that turn the
 * direction of text, are left out; a line end becomes a space.
 */
export function plainText(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll(/[\r\n\t]+/g, ' ')
    .replaceAll(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '');
}
