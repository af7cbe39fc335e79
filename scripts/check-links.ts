// Finds broken links in markdown: to files and headings of this repository. Addresses of other sites are not
// visited, so that the check needs no network and never fails because of another site.
//   npm run check:links     prints every broken link and ends with 1 when there is one
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { slugOf } from '../docs/.vitepress/slug.js';

const root = process.cwd();
const skipped = new Set(['node_modules', 'dist', 'coverage', '.git', '.scratch', '.embedded', 'results']);

function pagesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) return skipped.has(entry.name) ? [] : pagesIn(join(folder, entry.name));
    return entry.name.endsWith('.md') ? [join(folder, entry.name)] : [];
  });
}

/** Removes code blocks: code contains no links and no headings. */
const withoutBlocks = (text: string) => text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');
const withoutCode = (text: string) => withoutBlocks(text).replaceAll(/`[^`\n]*`/g, '');

/**
 * The anchors of the headings, as GitHub and the site make them; the second of the same name gets a number.
 */
function anchorsOf(page: string): string[] {
  const seen = new Map<string, number>();
  const headings = withoutBlocks(readFileSync(page, 'utf8')).matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, heading = '']) => {
    const anchor = slugOf(heading.replaceAll(/\]\([^)]*\)/g, ']'));
    const before = seen.get(anchor) ?? 0;
    seen.set(anchor, before + 1);
    return before === 0 ? anchor : `${anchor}-${before}`;
  });
}

function linksOf(text: string): string[] {
  const inline = text.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g);
  const definitions = text.matchAll(/^ *\[[^\]]+\]:\s+<?(\S+?)>?\s*$/gm);
  return [...inline, ...definitions].map(([, link = '']) => link);
}

function faultOf(page: string, link: string): string | undefined {
  if (/^[a-z][a-z+.-]*:/i.test(link)) return undefined;
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : normalize(join(dirname(page), decodeURI(path)));
  if (!existsSync(target)) return 'there is no such file';
  if (anchor === undefined || !target.endsWith('.md')) return undefined;
  return anchorsOf(target).includes(decodeURI(anchor)) ? undefined : 'there is no such heading';
}

const pages = pagesIn(root);
const faults = pages.flatMap((page) =>
  linksOf(withoutCode(readFileSync(page, 'utf8'))).flatMap((link) => {
    const fault = faultOf(page, link);
    return fault === undefined ? [] : [`${relative(root, page)}: ${link}: ${fault}`];
  }),
);
for (const fault of faults) console.error(fault);
console.log(`${pages.length} pages, ${faults.length} broken links`);
process.exitCode = faults.length === 0 ? 0 : 1;
