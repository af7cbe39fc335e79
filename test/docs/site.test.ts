// The site of the documentation: its sidebar and the pages are the same set.
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sidebar } from '../../docs/.vitepress/sidebar.js';
import { root } from './page.js';

const pages = readdirSync(new URL('docs/', root), { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.md') && !path.startsWith('.vitepress/'));
/** Decisions are listed by their own index; the home page is not in the sidebar. */
const own = pages.filter((path) => !/^decisions\/\d/.test(path) && path !== 'index.md');

describe('The site of the documentation', () => {
  it('the sidebar of the documentation has every page once, and no other', () => {
    const links = sidebar.flatMap(({ items }) => items.map(({ link }) => link));
    const files = links.map((link) => (link.endsWith('/') ? `${link}README.md` : `${link}.md`).slice(1));
    expect(files.sort()).toEqual(own.sort());
  });
});
