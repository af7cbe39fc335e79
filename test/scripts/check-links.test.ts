import { describe, expect, it } from 'vitest';
import { runScript } from './run-script.js';

const check = (files: Readonly<Record<string, string>>) => runScript('check-links.ts', files);

describe('The check of links', () => {
  it('the check of links accepts files and headings that exist, and visits no other site', async () => {
    const { code, output } = await check({
      'README.md':
        '# Start\n\n[a](docs/a.md) [b](docs/a.md#two-words) [c](#start) [d](https://nowhere.invalid/x)\n[e]: docs/a.md\n',
      'docs/a.md': '# A\n\n## Two `words`\n\n[up](../README.md#start)\n',
    });
    expect({ code, output }).toEqual({ code: 0, output: '2 pages, 0 broken links\n' });
  });

  it('the check of links names the page and the link when there is no such file', async () => {
    const { code, output } = await check({ 'docs/a.md': '[gone](b.md)' });
    expect(code).toBe(1);
    expect(output).toContain('docs/a.md: b.md: there is no such file');
  });

  it('the check of links names the page and the link when there is no such heading', async () => {
    const { code, output } = await check({ 'a.md': '# One\n\n[x](#two)', 'b.md': '[y](a.md#three)' });
    expect(code).toBe(1);
    expect(output).toContain('a.md: #two: there is no such heading');
    expect(output).toContain('b.md: a.md#three: there is no such heading');
  });

  it('the check of links tells two headings of the same name apart', async () => {
    const { code } = await check({ 'a.md': '# One\n\n# One\n\n[first](#one) [second](#one-1)' });
    expect(code).toBe(0);
  });

  it('the check of links takes nothing that is shown as code for a link or a heading', async () => {
    const page = '```md\n# No heading\n[x](gone.md)\n```\n\n`[y](gone.md)`\n';
    expect((await check({ 'a.md': page })).code).toBe(0);
    expect((await check({ 'a.md': page, 'b.md': '[z](a.md#no-heading)' })).code).toBe(1);
  });
});
