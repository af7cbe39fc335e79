// The page of explain has exactly the codes that its functions can say.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { codeWords, pageText, root, sections } from './page.js';

const folder = new URL('sql/functions/explain/', root);
const sql = readdirSync(folder)
  .map((file) => readFileSync(new URL(file, folder), 'utf8').replaceAll(/--.*/g, ''))
  .join('\n');
const documented = (
  sections(pageText('docs/operate/explain.md')).find(({ heading }) => heading === 'Reasons')?.body ?? ''
)
  .split('\n')
  .flatMap((line) => (line.startsWith('| `') ? codeWords(line.split('|')[1] ?? '') : []));

it('the page of explain has each reason that its functions name, and no other', () => {
  const [, ordered = ''] = /c_order constant text\[\] := array\[([^\]]*)\]/.exec(sql) ?? [];
  const named = [...ordered.matchAll(/'([a-z-]+)'/g)].map(([, code = '']) => code);
  const elsewhere = [...sql.matchAll(/(?:select|row\() ?\(?'([a-z]+(?:-[a-z]+)*)'/g)].map(
    ([, code = '']) => code,
  );
  const lanes = ['outbox', 'inbox'];
  const codes = [...named, ...elsewhere].filter((code) => !lanes.includes(code));
  expect([...documented].sort()).toEqual([...new Set(codes)].sort());
  expect(documented).toHaveLength(21);
});
