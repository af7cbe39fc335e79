// Which tests need no server: `npm run test:unit` runs them in seconds. In: the test files. Out: those from which no
// import leads to a database or a broker. Called by vitest.config.ts. Nobody has to register a test: what it imports decides.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { importsOf } from '../architecture/import-graph.js';

/** These start a server in a process of their own, which no import shows. */
const inOtherProcesses = ['test/testing/guide.test.ts', 'test/testing/jest.test.ts'];

/** Paths from the root of the repository, which is `folder`. */
export function unitTests(folder: string): string[] {
  const files = readdirSync(join(folder, 'test'), { recursive: true, encoding: 'utf8' });
  const tests = files
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => `test/${name.replaceAll('\\', '/')}`);
  const needsDatabase = databaseSeeker(folder);
  return tests.filter((test) => !inOtherProcesses.includes(test) && !needsDatabase(test)).sort();
}

function databaseSeeker(folder: string): (file: string) => boolean {
  const known = new Map<string, boolean>();
  const seek = (file: string): boolean => {
    const found = known.get(file);
    if (found !== undefined) return found;
    known.set(file, false); // for those who come back to it on a circle
    const path = join(folder, file);
    if (!existsSync(path)) return false;
    const text = readFileSync(path, 'utf8');
    const needs = isServer(file) || usesServer(file, text) || importsOf(file, text).some(seek);
    known.set(file, needs);
    return needs;
  };
  return seek;
}

/** The embedded PostgreSQL, brokers and their stand-ins: tests over one take their time, too. */
const isServer = (file: string) =>
  file === 'src/embedded/index.ts' ||
  file === 'test/support/brokers/broker.ts' ||
  file.startsWith('test/support/brokers/service-bus/') ||
  file.startsWith('test/transports/sqs/');

/** Asks for what global-setup.ts provides. */
function usesServer(file: string, text: string): boolean {
  return file.startsWith('test/') && /\binject\(\s*'(serverUrl|templateDatabase)'/.test(text);
}
