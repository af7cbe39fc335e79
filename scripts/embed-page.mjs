// Builds the page for operators from page/ with vite, and writes its files as a module, src/dashboard/page.generated.ts: so that the
// page is there wherever the package is, also when a bundler has made one file of it. Does nothing while nothing has changed.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const root = new URL('../', import.meta.url);
const out = new URL('src/dashboard/page.generated.ts', root);

const sources = readdirSync(new URL('page/', root), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.(?:tsx?|css|html|json|svg)$/.test(name))
  .sort();
const hash = createHash('sha256');
for (const name of sources) hash.update(name).update(readFileSync(new URL(`page/${name}`, root)));
for (const name of ['scripts/embed-page.mjs', 'package.json']) hash.update(readFileSync(new URL(name, root)));
const head = `// Made by scripts/embed-page.mjs from page/. Do not edit. ${hash.digest('hex')}\n`;

if (!existsSync(out) || !readFileSync(out, 'utf8').startsWith(head)) {
  const { build } = await import('vite');
  const { output } = await build({
    configFile: false,
    root: fileURLToPath(new URL('page/', root)),
    // Relative: the page may be mounted anywhere.
    base: './',
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    // No module preload: it would be an inline script. No assets as data in the code.
    build: { write: false, modulePreload: false, assetsInlineLimit: 0, target: 'es2022' },
  });
  const types = { html: 'text/html', js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml' };
  const files = Object.fromEntries(
    output.map((file) => {
      const name = file.fileName.replace(/^assets\//, '');
      const type = `${types[name.split('.').pop()]}; charset=utf-8`;
      return [name, { type, body: String(file.type === 'chunk' ? file.code : file.source) }];
    }),
  );
  const sizes = Object.values(files).map(({ body }) => gzipSync(body).length);
  console.log(`The page: ${(sizes.reduce((a, b) => a + b, 0) / 1024).toFixed(1)} KiB gzipped.`);
  writeFileSync(
    out,
    `${head}export const pageFiles: Readonly<Record<string, { readonly type: string; readonly body: string }>> = ${JSON.stringify(files, null, 2)};\n`,
  );
}
