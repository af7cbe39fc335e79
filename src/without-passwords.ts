/**
 * Masks the passwords in a text: all between the user's name and the host of a URL, also when the password holds an `@`,
 * and the values of `password=`, `SharedAccessKey=` and the like.
 */
export function withoutPasswords(text: string): string {
  return text
    .replaceAll(/(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@]*):\S*@/gi, '$1:***@')
    .replaceAll(/\b(password|pwd|SharedAccessKey|SharedSecret|SharedAccessSignature)=[^\s;&"']+/gi, '$1=***');
}
