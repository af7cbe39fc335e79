import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { findCycle, importGraph, importsOf } from './import-graph.js';

const graph = importGraph(fileURLToPath(new URL('../../src/', import.meta.url)));
const edges = [...graph].flatMap(([file, imports]) => imports.map((imported) => ({ file, imported })));

/** The vocabulary. Each may import those before it and nothing else of ours. */
const vocabulary = ['errors.ts', 'message.ts', 'options.ts'];
/** These put the parts together. */
const mayImportAnything = (file: string) =>
  [
    'index.ts',
    'transport.ts',
    'transport-of-url.ts',
    'coordination.ts',
    'whizbang.ts',
    'rabbitmq.ts',
    'nats.ts',
    'azure-service-bus.ts',
    'sqs.ts',
  ].includes(file) || file.startsWith('cli/');
/** A folder that needs another one says so here. Files directly under src are open to all. */
const folderMayImport: Readonly<Record<string, readonly string[]>> = {
  database: [],
  coordinator: ['database', 'fold', 'messages'],
  strategies: ['coordinator', 'database'],
  transports: ['coordinator', 'database', 'messages'],
  telemetry: ['coordinator', 'database', 'messages'],
  transactions: ['database'],
  migrate: ['database'],
  dashboard: ['coordinator', 'database', 'events', 'messages', 'operate'],
  doctor: ['database', 'migrate', 'operate', 'transports'],
  operate: ['coordinator', 'database', 'events', 'messages'],
  receptors: ['database', 'dispatch', 'fold', 'messages'],
  nestjs: ['database', 'messages', 'receptors', 'runtime'],
  relay: ['database', 'transports'],
  requests: ['coordinator', 'database', 'dispatch', 'messages'],
  retention: ['coordinator', 'events', 'messages'],
  fold: ['messages'],
  events: ['coordinator', 'database', 'dispatch', 'fold', 'messages', 'transactions'],
  perspectives: ['coordinator', 'database', 'dispatch', 'events', 'fold', 'messages', 'transactions', 'work'],
  dispatch: ['coordinator', 'database', 'messages', 'strategies', 'transactions'],
  runtime: [
    'coordinator',
    'database',
    'dispatch',
    'events',
    'messages',
    'operate',
    'perspectives',
    'receptors',
    'requests',
    'retention',
    'schedules',
    'strategies',
    'telemetry',
    'timers',
    'transactions',
    'transports',
    'work',
  ],
  testing: [
    'database',
    'dispatch',
    'embedded',
    'fold',
    'messages',
    'migrate',
    'operate',
    'receptors',
    'runtime',
    'transports',
    'work',
  ],
  schedules: ['coordinator', 'database', 'dispatch', 'events', 'messages', 'timers'],
  timers: ['coordinator', 'database', 'events', 'messages', 'transactions', 'work'],
  work: [
    'coordinator',
    'database',
    'dispatch',
    'events',
    'messages',
    'receptors',
    'strategies',
    'transactions',
    'transports',
  ],
};
/** The rooms of `work`. Files directly under it are open to all of them. */
const roomMayImport: Readonly<Record<string, readonly string[]>> = {
  leases: [],
  loop: ['leases'],
  streams: ['leases'],
  transaction: ['leases'],
  publish: ['leases'],
  handle: ['leases', 'publish', 'streams', 'transaction'],
  limits: ['handle'],
};

const folderOf = (file: string) => (file.includes('/') ? file.slice(0, file.indexOf('/')) : undefined);
const roomOf = (file: string) => /^work\/([^/]+)\//.exec(file)?.[1];
const name = ({ file, imported }: { file: string; imported: string }) => `${file} imports ${imported}`;

describe('Imports under src', () => {
  it('a file of the vocabulary imports only those before it', () => {
    const wrong = edges.filter(({ file, imported }) => {
      const place = vocabulary.indexOf(file);
      return place >= 0 && !vocabulary.slice(0, place).includes(imported);
    });
    expect(wrong.map(name)).toEqual([]);
  });

  it('the imports under src have no cycle', () => {
    expect(findCycle(graph)).toBeUndefined();
  });

  it('a file that folders share imports no folder', () => {
    const wrong = edges.filter(
      ({ file, imported }) => !mayImportAnything(file) && !folderOf(file) && folderOf(imported) !== undefined,
    );
    expect(wrong.map(name)).toEqual([]);
  });

  it('a folder imports itself and the folders it may import', () => {
    const wrong = edges.filter(({ file, imported }) => {
      const [from, to] = [folderOf(file), folderOf(imported)];
      if (mayImportAnything(file) || from === undefined || to === undefined || from === to) return false;
      return !folderMayImport[from]?.includes(to);
    });
    expect(wrong.map(name)).toEqual([]);
  });

  it('a folder is entered by its index only, and the room of a broker by the door of its name', () => {
    const wrong = edges.filter(({ file, imported }) => {
      const to = folderOf(imported);
      if (imported.startsWith(`transports/${file.slice(0, -'.ts'.length)}/`)) return false;
      return to !== undefined && folderOf(file) !== to && imported !== `${to}/index.ts`;
    });
    expect(wrong.map(name)).toEqual([]);
  });

  it('a room of work imports itself and the rooms it may import', () => {
    const wrong = edges.filter(({ file, imported }) => {
      const [from, to] = [roomOf(file), roomOf(imported)];
      if (from === undefined || to === undefined || from === to) return false;
      return !roomMayImport[from]?.includes(to);
    });
    expect(wrong.map(name)).toEqual([]);
  });

  it('every import leads to a file that exists', () => {
    expect(edges.filter(({ imported }) => !graph.has(imported)).map(name)).toEqual([]);
  });
});

describe('The check of imports', () => {
  it('the check of imports sees every way to import', () => {
    const text = `import './a.js';\nimport type { B } from "../b.js";\nexport * from './c/index.js';\nimport {\n  d,\n} from './d.js';\nawait import('./e.js');\nimport fs from 'node:fs';`;
    expect(importsOf('x/y.ts', text)).toEqual(['x/a.ts', 'b.ts', 'x/c/index.ts', 'x/d.ts', 'x/e.ts']);
  });

  it('the check of imports finds a cycle and names the way around it', () => {
    const circular = new Map([
      ['a.ts', ['b.ts']],
      ['b.ts', ['c.ts']],
      ['c.ts', ['b.ts']],
    ]);
    expect(findCycle(circular)).toEqual(['b.ts', 'c.ts', 'b.ts']);
  });
});
