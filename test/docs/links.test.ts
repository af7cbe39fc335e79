// What pages name exists. Their links are the business of scripts/check-links.ts.
import { existsSync, readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { codeWords, pageText, root } from './page.js';

const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(new URL('docs/', root), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.replaceAll('\\', '/')}`),
];

describe.each(pages)('%s', (page) => {
  const text = pageText(page);

  it('a page names only files of the repository that exist', () => {
    const named = codeWords(text).filter((word) =>
      /^(test|sql|src|bench|examples|scripts)\/[\w./-]+$/.test(word),
    );
    expect(named.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
  });

  it('a page names only internal SQL functions that exist', () => {
    const files = readdirSync(new URL('sql/functions/', root), { recursive: true, encoding: 'utf8' }).map(
      (path) => basename(path).replace(/(_lane)?(\.lane)?\.sql$/, ''),
    );
    const named = codeWords(text)
      .map((word) => /^(wh_\w+)\(/.exec(word)?.[1] ?? '')
      .filter((name) => name !== '');
    expect(named.filter((name) => !files.includes(name.replace(/_(outbox|inbox)$/, '')))).toEqual([]);
  });
});
