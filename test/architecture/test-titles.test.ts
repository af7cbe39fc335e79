// A test that fails is known by its title: it has to be understood without the `describe` and the file that it stands in.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { faultOf, titlesIn } from './test-titles.js';

const folder = fileURLToPath(new URL('../', import.meta.url));

const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.ts'));

describe('The titles of tests', () => {
  it('every title of a test can be read alone', () => {
    const titles = files.flatMap((file) =>
      titlesIn(readFileSync(folder + file, 'utf8')).map((title) => ({ file, ...title })),
    );
    expect(titles.length).toBeGreaterThan(500);
    const wrong = titles.flatMap(({ file, line, text }) => {
      const fault = faultOf(text);
      return fault === undefined ? [] : [`test/${file}:${line} "${text}" ${fault}`];
    });
    expect(wrong).toEqual([]);
  });
});

describe('The check of titles', () => {
  it('the check of titles finds the title of every kind of test', () => {
    const text = `
      it('one', () => {});
      test.skip('two', () => {});
      it.each([['a', 'b']])('three %s', () => {});
      it.skipIf(false).each([1])(
        'four',
        () => {},
      );
      itNested?.('five', () => {});
      trial(\`six \${name} times\`, async (world) => {});
      describe('no test', () => { it(name, () => {}); });`;
    expect(titlesIn(text)).toEqual([
      { line: 2, text: 'one' },
      { line: 3, text: 'two' },
      { line: 4, text: 'three %s' },
      { line: 6, text: 'four' },
      { line: 9, text: 'five' },
      { line: 10, text: 'six %s times' },
    ]);
  });

  it.each([
    'is renewed by a heartbeat',
    'are handled in one transaction',
    'makes a few calls',
    'Keeps the order of the stream',
    'jitters, so that failed messages are not retried together',
    'have no cycle',
    'of a finished stream',
    'that is refused names the field',
    'and wait for more themselves, they get an error',
    'its lease is lost',
    'when its type is %j',
    '(%s) is alone',
    '%s',
    '$heading',
    'a title with one word more than the limit, which is far too long to be read in the list of a run',
  ])('the check of titles refuses "%s"', (title) => {
    expect(faultOf(title)).toBeDefined();
  });

  it.each([
    'a heartbeat renews the lease of a message',
    'messages that wait together are handled in one transaction',
    'createWhizbang refuses wrong options: %s',
    'process resolves at once without items',
    'after a restart, the server has what was committed',
    'a traceparent %s is not valid',
    '$file has the names to look at',
  ])('the check of titles accepts "%s"', (title) => {
    expect(faultOf(title)).toBeUndefined();
  });
});
