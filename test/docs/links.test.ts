import { existsSync, readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { slugOf } from '../../docs/.vitepress/slug.js';
import { codeWords, pageText, root } from './page.js';

const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(new URL('docs/', root), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.replaceAll('\\', '/')}`),
];

/** As GitHub and the site make them from headings. */
const anchorsOf = (path: string) =>
  [...pageText(path).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => slugOf(heading));

function isBroken(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = new URL(path, new URL(page, root));
  if (path !== '' && !existsSync(target)) return true;
  if (anchor === undefined) return false;
  const name = path === '' ? page : target.pathname.slice(root.pathname.length);
  return !anchorsOf(name).includes(anchor);
}

describe.each(pages)('%s', (page) => {
  const text = pageText(page);

  it('links to pages and headings that exist', () => {
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    const own = links.filter((link) => !/^[a-z]+:/.test(link));
    expect(own.filter((link) => isBroken(page, link))).toEqual([]);
  });

  it('names files of the repository that exist', () => {
    const named = codeWords(text).filter((word) =>
      /^(test|sql|src|bench|examples|scripts)\/[\w./-]+$/.test(word),
    );
    expect(named.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
  });

  it('names internal SQL functions that exist', () => {
    const files = readdirSync(new URL('sql/functions/', root), { recursive: true, encoding: 'utf8' }).map(
      (path) => basename(path).replace(/(_lane)?(\.lane)?\.sql$/, ''),
    );
    const named = codeWords(text)
      .map((word) => /^(wh_\w+)\(/.exec(word)?.[1] ?? '')
      .filter((name) => name !== '');
    expect(named.filter((name) => !files.includes(name.replace(/_(outbox|inbox)$/, '')))).toEqual([]);
  });
});
