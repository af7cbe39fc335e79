// The site: the pages of docs/ as they are in the repository. Dead links fail the build.
import { defineConfig } from 'vitepress';
import { sidebar } from './sidebar.js';
import { slugOf } from './slug.js';

/** The pages that GitHub shows for a folder are the index of that folder here. */
const asIndex = (href: string) => href.replace(/(^|\/)README\.md(?=#|$)/, '$1index.md');

export default defineConfig({
  title: 'whizbang',
  description: 'Reliable, ordered messaging between Node services on PostgreSQL',
  cleanUrls: true,
  rewrites: { 'guide/README.md': 'guide/index.md', 'decisions/README.md': 'decisions/index.md' },
  markdown: {
    anchor: { slugify: slugOf },
    config(md) {
      const normalize = md.normalizeLink.bind(md);
      md.normalizeLink = (href) => normalize(asIndex(href));
      const { fence } = md.renderer.rules;
      md.renderer.rules.fence = (tokens, i, ...rest) => {
        const token = tokens[i];
        if (token?.info.trim() !== 'mermaid') return fence?.(tokens, i, ...rest) ?? '';
        return `<Mermaid text="${encodeURIComponent(token.content)}" />`;
      };
    },
  },
  themeConfig: {
    sidebar: sidebar.map(({ items, ...group }) => ({ ...group, items: [...items] })),
    outline: [2, 3],
    search: { provider: 'local' },
  },
});
