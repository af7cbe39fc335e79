// The hosted CI and .ci/run do the same: the workflow calls parts that exist, on the versions that the package names.
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { pageText, root } from '../docs/page.js';

const workflow = pageText('.github/workflows/ci.yml');
const script = pageText('.ci/run');
const manifest = JSON.parse(pageText('package.json')) as {
  engines: { node: string };
  scripts: Record<string, string>;
};

describe('The hosted CI', () => {
  it('the hosted CI runs every part that .ci/run has, also the one that is not in all', () => {
    const called = [...workflow.matchAll(/run: \.ci\/run (\w+)/g)].map(([, part]) => part);
    const parts = [...script.matchAll(/^ {2}(\w+)\) \1 /gm)].map(([, part]) => part);
    expect(parts).toContain('journeys');
    expect([...new Set(called)].sort()).toEqual(parts.sort());
  });

  it('the hosted CI begins with the oldest Node that the package allows, and with PostgreSQL 15', () => {
    const oldest = /\d+/.exec(manifest.engines.node)?.[0];
    const first = [...workflow.matchAll(/ node: \[(\d+)/g)].map(([, version]) => version);
    expect(first).toEqual([oldest, oldest]);
    expect(workflow).toContain('postgres: [15, 16, 17, 18]');
  });
});

describe('.ci/run', () => {
  it('.ci/run calls npm scripts that exist', () => {
    const called = [...script.matchAll(/npm run (?:--silent )?([\w:]+)/g)].map(([, name = '']) => name);
    expect(called.filter((name) => manifest.scripts[name] === undefined)).toEqual([]);
  });

  it('.ci/run names folders and files of tests that exist', () => {
    const named = script.match(/\btest\/[\w/-]+(?:\.c)?/g) ?? [];
    const missing = named.filter(
      (path) => !['', '.test.ts'].some((end) => existsSync(new URL(path + end, root))),
    );
    expect(missing).toEqual([]);
  });

  it('.ci/run does the quick parts before the slow ones', () => {
    const [, all = ''] = /^ {2}all\)\n([\s\S]*?);;/m.exec(script) ?? [];
    expect(all.trim().split(/\n\s*/)).toEqual(['check', 'runtimes', 'postgres 18', 'postgres 15', 'bench']);
  });
});
