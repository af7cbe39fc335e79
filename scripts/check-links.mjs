// Finds links in markdown that lead nowhere: files and headings of this repository. Addresses of other sites are not visited,
// so that the check needs no network and never fails because of somebody else.
//   node scripts/check-links.mjs [folder]     prints every broken link and ends with 1 when there is one
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative, resolve } from 'node:path';

const root = resolve(process.argv[2] ?? '.');
const skipped = new Set(['node_modules', 'dist', 'coverage', '.git', '.scratch', '.embedded', 'results']);

function pagesIn(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) return skipped.has(entry.name) ? [] : pagesIn(join(folder, entry.name));
    return entry.name.endsWith('.md') ? [join(folder, entry.name)] : [];
  });
}

/** What is shown as code is no link and no heading. */
const withoutCode = (text) => text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '').replaceAll(/`[^`\n]*`/g, '');

/** As GitHub makes them from headings; the second of the same name gets a number. */
function anchorsOf(page) {
  const seen = new Map();
  const text = readFileSync(page, 'utf8').replaceAll(/^ *```[\s\S]*?^ *```$/gm, '');
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/\]\([^)]*\)/g, '')
      .replaceAll(/[^\p{L}\p{N}\- _]/gu, '')
      .replaceAll(' ', '-');
    const before = seen.get(anchor) ?? 0;
    seen.set(anchor, before + 1);
    return before === 0 ? anchor : `${anchor}-${before}`;
  });
}

function linksOf(text) {
  const inline = text.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g);
  const definitions = text.matchAll(/^ *\[[^\]]+\]:\s+<?(\S+?)>?\s*$/gm);
  return [...inline, ...definitions].map(([, link]) => link);
}

function faultOf(page, link) {
  if (/^[a-z][a-z+.-]*:/i.test(link)) return undefined;
  const [path, anchor] = link.split('#');
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
