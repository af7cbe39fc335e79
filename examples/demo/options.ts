import { parseArgs } from 'node:util';

export interface DemoOptions {
  readonly messages: number;
  readonly streams: number;
  /** Instances of the warehouse. One is killed, one is stalled, and at least one has to continue. */
  readonly instances: number;
  readonly seed: number;
}

const table = {
  messages: { default: 3000, min: 100, max: 1_000_000, what: 'messages that the shop stores' },
  streams: { default: 200, min: 10, max: 100_000, what: 'orders, each a stream of its own' },
  instances: { default: 3, min: 3, max: 8, what: 'processes of the warehouse' },
  seed: { default: 1, min: 0, max: 2_147_483_647, what: 'the same seed, the same messages and failures' },
} as const;

export const usage = [
  'npm run demo -- [options]',
  '',
  ...Object.entries(table).map(
    ([name, { default: value, min, max, what }]) =>
      `  --${name.padEnd(10)} ${what} (${min} to ${max}, default ${value})`,
  ),
  '  --help       this text',
  '',
  'DATABASE_URL: a PostgreSQL to use instead of the embedded one. The demo makes two schemas there, whizbang_demo_shop and',
  'whizbang_demo_warehouse, and removes them at the end.',
].join('\n');

/** A mistake in the command line, printed in one line. */
export class UsageError extends Error {}

/** Parses the command line. Undefined: help was requested. */
export function parseOptions(args: readonly string[]): DemoOptions | undefined {
  const known = Object.keys(table);
  const { values, tokens } = parseArgs({
    args: [...args],
    strict: false,
    tokens: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      ...Object.fromEntries(known.map((name) => [name, { type: 'string' as const }])),
    },
  });
  for (const token of tokens) {
    if (token.kind === 'positional') throw new UsageError(`${token.value} is not an option. Try --help.`);
    if (token.kind === 'option' && ![...known, 'help'].includes(token.name)) throw unknown(token.rawName);
  }
  if (values.help === true) return undefined;
  const given = (name: keyof typeof table) => numberOf(name, values[name]);
  const options = {
    messages: given('messages'),
    streams: given('streams'),
    instances: given('instances'),
    seed: given('seed'),
  };
  if (options.streams > options.messages) {
    throw new UsageError(
      `${options.messages} messages do not fill ${options.streams} streams. Give fewer --streams.`,
    );
  }
  return options;
}

function numberOf(name: keyof typeof table, value: unknown): number {
  const { default: standard, min, max } = table[name];
  if (value === undefined) return standard;
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new UsageError(`--${name} takes a whole number from ${min} to ${max}.`);
}

function unknown(given: string): UsageError {
  const known = [...Object.keys(table), 'help'].map((name) => `--${name}`);
  const near = known.find((name) => given.length > 3 && (name.startsWith(given) || isNear(given, name)));
  return new UsageError(
    `There is no option ${given}. ${near === undefined ? `Known options: ${known.join(', ')}.` : `Did you mean ${near}?`}`,
  );
}

/** Whether one letter is missing, added or wrong. */
function isNear(given: string, name: string): boolean {
  let same = 0;
  while (same < given.length && given[same] === name[same]) same++;
  const [rest, wanted] = [given.slice(same), name.slice(same)];
  return rest === wanted.slice(1) || rest.slice(1) === wanted || rest.slice(1) === wanted.slice(1);
}
