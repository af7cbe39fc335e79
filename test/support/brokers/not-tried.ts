const opening = 'Not tried:';

/** The reason of a test that is skipped because its broker is missing. */
export const notTried = (name: string, howToTry: string): string => `${opening} ${name}. ${howToTry}`;

export const isNotTried = (reason: string | undefined): reason is string =>
  reason?.startsWith(opening) ?? false;
