import { withoutPasswords } from './without-passwords.js';

/** A shorter one is masked in a URL only: as a part of other words it would make every line unreadable. */
const shortest = 4;

/** Makes a function that masks what is secret in these URLs, wherever it appears in a text. */
export function maskOf(urls: readonly (string | undefined)[]): (text: string) => string {
  const secrets = [...new Set(urls.flatMap((url) => (url === undefined ? [] : secretsOf(url))))]
    .filter((secret) => secret.length >= shortest)
    .sort((a, b) => b.length - a.length); // the longest first: one may be a part of another
  return (text) =>
    secrets.reduce((masked, secret) => masked.replaceAll(secret, '***'), withoutPasswords(text));
}

/** Passwords and keys, as they are written and as they are meant. */
function secretsOf(url: string): string[] {
  const found = [...url.matchAll(/\/\/([^/?#\s]*)@/g)].flatMap(([, user = '']) => {
    const colon = user.indexOf(':');
    // NATS takes a token in the place of the user's name.
    if (colon < 0) return /^(nats|tls):/i.test(url) ? [user] : [];
    // A password that is the name of its user is no secret, and errors name the user.
    const [name, password] = [user.slice(0, colon), user.slice(colon + 1)];
    return password === name ? [] : [password];
  });
  const named = [...url.matchAll(/\b(?:password|SharedAccessKey|SharedAccessSignature)=([^;&\s]+)/gi)].map(
    ([, secret = '']) => secret,
  );
  return [...found, ...named].flatMap((secret) => [secret, decoded(secret)]);
}

function decoded(secret: string): string {
  try {
    return decodeURIComponent(secret);
  } catch {
    return secret;
  }
}
