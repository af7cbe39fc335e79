import { describe, expect, it } from 'vitest';
import { compareVersions } from '../../src/migrate/compare-versions.js';
import type { LedgerRow } from '../../src/migrate/ledger.js';
import { isEmpty, planMigration } from '../../src/migrate/plan.js';
import { currentRelease, type Release } from '../../src/migrate/release.js';
import { functionF, smallRelease, tableT } from './support/small-release.js';

const ledgerOf = (release: Release): LedgerRow[] =>
  release.files.map(({ name, kind, hash }) => ({ name, kind, hash, package_version: release.version }));
const names = (files: readonly { name: string }[]) => files.map(({ name }) => name);

describe('A plan', () => {
  it('the plan for an empty database is everything, in order', () => {
    const plan = planMigration(smallRelease('1.0.0'), []);
    expect(names([...plan.migrations, ...plan.functions, ...plan.views])).toEqual(['0001_t', 'f', 'v']);
  });

  it('the plan for a current database is empty', () => {
    const release = smallRelease('1.0.0');
    expect(isEmpty(planMigration(release, ledgerOf(release)))).toBe(true);
  });

  it('a plan holds only what changed', () => {
    const changed = { ...functionF, text: `${functionF.text} -- faster` };
    const plan = planMigration(
      smallRelease('1.0.1', { functions: [changed] }),
      ledgerOf(smallRelease('1.0.0')),
    );
    expect(names(plan.functions)).toEqual(['f']);
    expect(names([...plan.migrations, ...plan.views])).toEqual([]);
  });

  it('a plan with a migration applies every function and view again', () => {
    const more = [tableT, { name: '0002_more', text: 'drop view v; alter table t alter a type bigint' }];
    const plan = planMigration(smallRelease('1.1.0', { migrations: more }), ledgerOf(smallRelease('1.0.0')));
    expect(names([...plan.migrations, ...plan.functions, ...plan.views])).toEqual(['0002_more', 'f', 'v']);
  });

  it('a plan applies every type, function and view when one type is new, changed or gone', () => {
    const [a, b] = [
      { name: 'a', text: 'create type a as (x int);' },
      { name: 'b', text: 'create type b as (y a);' },
    ];
    const changed = { ...b, text: 'create type b as (y a, z int);' };
    for (const [from, to] of [
      [[a], [a, b]],
      [
        [a, b],
        [a, changed],
      ],
      [[a, b], [a]],
    ] as const) {
      const ledger = ledgerOf(smallRelease('1.0.0', { types: [...from] }));
      const plan = planMigration(smallRelease('1.0.1', { types: [...to] }), ledger);
      expect(names([...plan.types, ...plan.functions, ...plan.views])).toEqual([...names(to), 'f', 'v']);
      expect(names([...plan.migrations])).toEqual([]);
    }
    const ledger = ledgerOf(smallRelease('1.0.0', { types: [a, b] }));
    expect(isEmpty(planMigration(smallRelease('1.0.0', { types: [a, b] }), ledger))).toBe(true);
    expect(isEmpty(planMigration(smallRelease('0.9.0', { types: [changed] }), ledger))).toBe(true);
  });

  it('a plan sees no difference in line ends', () => {
    const windows = { ...tableT, text: `${tableT.text}\r\n` };
    const unix = { ...tableT, text: `${tableT.text}\n` };
    const ledger = ledgerOf(smallRelease('1.0.0', { migrations: [unix] }));
    expect(isEmpty(planMigration(smallRelease('1.0.0', { migrations: [windows] }), ledger))).toBe(true);
  });

  it('a plan notes the new version of unchanged functions', () => {
    const plan = planMigration(smallRelease('1.0.1'), ledgerOf(smallRelease('1.0.0')));
    expect(plan).toMatchObject({ confirms: true, functions: [], views: [] });
  });

  it('a plan leaves functions and views of a newer version alone', () => {
    const newer = smallRelease('1.0.1', { functions: [{ ...functionF, text: '-- newer' }], views: [] });
    expect(isEmpty(planMigration(smallRelease('1.0.0'), ledgerOf(newer)))).toBe(true);
  });

  it('a plan removes what a later version no longer has', () => {
    const plan = planMigration(smallRelease('1.0.1', { views: [] }), ledgerOf(smallRelease('1.0.0')));
    expect(names(plan.obsolete)).toEqual(['v']);
  });
});

describe('The release in this package', () => {
  it('the release in this package gives every file a name of its own', () => {
    const all = names(currentRelease().files);
    expect(all).toEqual([...new Set(all)]);
    expect(all).toContain('process_work_batch');
  });

  it('the release in this package has each type after those that it uses', () => {
    const types = currentRelease().files.filter(({ kind }) => kind === 'type');
    expect(types.length).toBeGreaterThan(0);
    for (const [i, { name, text }] of types.entries()) {
      expect(text).toContain(`\ncreate type ${name} as (`);
      const later = names(types.slice(i + 1));
      expect(
        text
          .replaceAll(/--.*/g, '')
          .match(/\w+/g)
          ?.filter((word) => later.includes(word)),
        name,
      ).toEqual([]);
    }
  });

  it('the release in this package numbers its migrations without a gap', () => {
    const migrations = names(currentRelease().files.filter(({ kind }) => kind === 'migration'));
    expect(migrations.length).toBeGreaterThan(0);
    expect(migrations.map((name) => name.slice(0, 5))).toEqual(
      migrations.map((_, i) => `${String(i + 1).padStart(4, '0')}_`),
    );
  });
});

describe('Versions', () => {
  it('versions are ordered as semver orders them', () => {
    const rising = [
      '0.9.9',
      '0.10.0',
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-alpha.beta',
      '1.0.0-beta.2',
      '1.0.0-beta.11',
      '1.0.0-rc.1',
      '1.0.0',
      '1.0.1',
    ];
    expect([...rising].reverse().sort(compareVersions)).toEqual(rising);
    for (const [i, version] of rising.slice(1).entries()) {
      expect(compareVersions(version, rising[i] as string)).toBeGreaterThan(0);
    }
  });

  it('versions are equal when only their build differs', () => {
    expect(compareVersions('1.2.3+a', '1.2.3+b')).toBe(0);
  });
});
