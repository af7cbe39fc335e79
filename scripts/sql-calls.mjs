// Reads which SQL function calls which. Run as a program, it writes the `-- Called by:` line of every file in sql/functions.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withWords } from './sql-words.mjs';

const root = new URL('../', import.meta.url);
const longestLine = 120;
const calls = /\b(process_work_batch|deregister_instance|wh_\w+(?:\{lane\})?)\s*\(/g;
const dynamicCalls = /select %I\.(wh_\w+)\(/g;
/**
 * Matches `schema.wh_x(` in a statement, or the name as the first argument of a function that makes the
 * statement.
 */
const callsInTypeScript = /(?:\.|\(')(process_work_batch|deregister_instance|wh_\w+)[('`]/g;
const triggers = /create trigger (\w+)[^;]*execute function (\w+)\(/g;

/** Reads every file of sql/functions. A function that is installed for both lanes has the name `x_{lane}`. */
export function readFunctions() {
  return filesIn('sql/functions/', '.sql')
    .map((file) => parseFunction(file, readFileSync(new URL(`sql/functions/${file}`, root), 'utf8')))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * Splits a file. Header: the comment lines on top. Code: the rest, without comments and with its fragments
 * written out.
 */
export function parseFunction(file, text) {
  const lines = text.trimEnd().split('\n');
  const headerLines = lines.findIndex((line) => !line.startsWith('--'));
  const code = lines.slice(headerLines).join('\n').replaceAll(/--.*/g, '');
  const folder = dirname(file);
  return {
    file,
    folder: folder === '.' ? '' : folder,
    name: basename(file)
      .replace(/_lane\.lane\.sql$/, '_{lane}')
      .replace(/\.sql$/, ''),
    creates: /create or replace function (\w+(?:\{lane\})?)/.exec(text)?.[1],
    header: lines.slice(0, headerLines),
    text,
    codeLines: code.split('\n').filter((line) => line.trim() !== '').length,
    code: withWords(code, { lane: '{lane}' }),
  };
}

/** The functions that this one calls. A name in a string literal is no call. */
export function callsOf({ name, code }, names) {
  const text = code.replaceAll(/'(?:[^']|'')*'/g, "''");
  return unique([...text.matchAll(calls)].flatMap(([, called]) => resolve(called, names))).filter(
    (called) => called !== name,
  );
}

/** The same, and the functions of other schemas that it calls by a statement made at run time. */
function allCallsOf(fn, names) {
  const dynamic = [...fn.code.matchAll(dynamicCalls)].flatMap(([, called]) => resolve(called, names));
  return unique([...callsOf(fn, names), ...dynamic]);
}

/**
 * The callers of each function, sorted: SQL functions, triggers and TypeScript files. A recursive call is
 * left out.
 */
export function readCallers(functions) {
  const names = new Set(functions.map(({ name }) => name));
  const callers = new Map(functions.map(({ name }) => [name, []]));
  for (const fn of functions) for (const called of allCallsOf(fn, names)) callers.get(called).push(fn.name);
  for (const file of filesIn('sql/migrations/', '.sql'))
    for (const [, trigger, called] of readSource(`sql/migrations/${file}`).matchAll(triggers))
      callers.get(called)?.push(`trigger ${trigger}`);
  for (const file of filesIn('src/', '.ts').filter((name) => !/\.(generated|test)\.ts$/.test(name))) {
    const called = [...withoutComments(readSource(`src/${file}`)).matchAll(callsInTypeScript)].map(
      ([, name]) => name,
    );
    for (const name of called) callers.get(name)?.push(basename(file));
  }
  return new Map([...callers].map(([name, list]) => [name, unique(list).sort()]));
}

/** The comment lines that name the callers. */
export function calledByLines(callers) {
  const lines = ['-- Called by:'];
  for (const [place, caller] of callers.entries()) {
    const word = place < callers.length - 1 ? `${caller},` : caller;
    if (`${lines.at(-1)} ${word}`.length > longestLine) lines.push('--  ');
    lines.push(`${lines.pop()} ${word}`);
  }
  return callers.length === 0 ? ['-- Called by: none'] : lines;
}

/**
 * Finds the files of a called function. `wh_x_inbox` may be a file of its own or one half of `wh_x_{lane}`;
 * `wh_x_{lane}` may be two files.
 */
function resolve(called, names) {
  const candidates = called.endsWith('{lane}')
    ? [called, called.replace('{lane}', 'outbox'), called.replace('{lane}', 'inbox')]
    : [called, called.replace(/(outbox|inbox)$/, '{lane}')];
  return candidates.filter((name) => names.has(name));
}

function withoutComments(source) {
  return source.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$|\s\/\/\s.*$/gm, '');
}

function filesIn(folder, ending) {
  return readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith(ending),
  );
}

function readSource(path) {
  return readFileSync(new URL(path, root), 'utf8');
}

function unique(list) {
  return [...new Set(list)];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const functions = readFunctions();
  const callers = readCallers(functions);
  for (const { file, name, header } of functions) {
    const path = new URL(`sql/functions/${file}`, root);
    const start = header.findIndex((line) => line.startsWith('-- Called by:'));
    const kept = start < 0 ? header : header.slice(0, start);
    const rest = readFileSync(path, 'utf8').split('\n').slice(header.length);
    writeFileSync(path, [...kept, ...calledByLines(callers.get(name)), ...rest].join('\n'));
  }
}
