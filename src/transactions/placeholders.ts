// A statement with `$1…`, split at its parameters, for libraries that write them another way.

type Part = { readonly text: string } | { readonly parameter: number };

/**
 * Tokens of a statement. Those that may hold a `$` that is no parameter come first: literals, identifiers,
 * dollar quotes, comments.
 */
const tokens = new RegExp(
  [
    /\be'(?:[^'\\]|\\[\s\S]|'')*'/, // before the plain literal: a backslash escapes its quote
    /'(?:[^']|'')*'/,
    /"(?:[^"]|"")*"/,
    /\$([a-z_]\w*)?\$[\s\S]*?\$\1\$/,
    /--[^\n]*/,
    /\/\*[\s\S]*?\*\//,
    /[a-z_][\w$]*/, // in a name, `$1` is a part of the name
    /\$(?<parameter>\d+)/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gi',
);

export function splitAtParameters(statement: string): Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const match of statement.matchAll(tokens)) {
    const parameter = match.groups?.parameter;
    if (parameter === undefined) continue;
    parts.push({ text: statement.slice(from, match.index) }, { parameter: Number(parameter) });
    from = match.index + match[0].length;
  }
  parts.push({ text: statement.slice(from) });
  return parts;
}
