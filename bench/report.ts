// The results of a run, as a table for people and as JSON for programs. In: the results of the questions.
// Out: text, and a file under bench/results/. Called by run.ts; never judges, never fails a run.

import { mkdir, writeFile } from 'node:fs/promises';
import os from 'node:os';
import { type Bar, type Finding, isSkipped, type Question, reached, type Skipped } from './question.js';
import type { BenchServer } from './server.js';

export interface Answer {
  readonly question: Question;
  readonly results: readonly (Finding | Skipped)[];
  readonly seconds: number;
}

export function header({ version, settings }: BenchServer, quick: boolean): string {
  const machine = `${os.cpus().length} cores, Node ${process.versions.node}, PostgreSQL ${version}`;
  const durability = Object.entries(settings)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
  const lines = [`${machine}; ${durability}`];
  if (settings.fsync !== 'on') lines.push('fsync is off: these numbers say nothing about a durable server.');
  if (quick) lines.push('Quick run: shows that every benchmark works; its ratios mean nothing.');
  return lines.join('\n');
}

export function table({ question, results }: Answer, quick: boolean): string {
  const rows = results.map((result) =>
    isSkipped(result)
      ? [result.setting, '-', '-', '-', 'not run', result.skipped]
      : [
          result.setting,
          formatValue(result.value, result.unit),
          result.spread === undefined ? '' : `${format(result.spread[0])} - ${format(result.spread[1])}`,
          formatBar(result.bar, result.unit),
          quick ? '' : verdict(result),
          result.info,
        ],
  );
  const head = ['setting', 'ratio', 'spread', 'bar', 'reached', 'for information'];
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `  ${cells.map((cell, i) => (i === cells.length - 1 ? cell : cell.padEnd(widths[i] ?? 0))).join('  ')}`;
  return [`${question.name}: ${question.asks}`, line(head), ...rows.map(line), ''].join('\n');
}

export async function writeJson(
  answers: readonly Answer[],
  server: BenchServer,
  quick: boolean,
): Promise<string> {
  const folder = new URL('./results/', import.meta.url);
  await mkdir(folder, { recursive: true });
  const takenAt = new Date().toISOString();
  const file = new URL(`${takenAt.replaceAll(':', '-')}.json`, folder);
  const content = {
    takenAt,
    quick,
    machine: { cores: os.cpus().length, node: process.versions.node },
    postgres: { version: server.version, settings: server.settings },
    answers: answers.map(({ question, results, seconds }) => ({
      question: question.name,
      asks: question.asks,
      seconds,
      results: results.map((result) =>
        isSkipped(result) ? result : { ...result, reached: quick ? null : (reached(result) ?? null) },
      ),
    })),
  };
  await writeFile(file, `${JSON.stringify(content, null, 2)}\n`);
  return file.pathname;
}

function verdict(finding: Finding): string {
  const isReached = reached(finding);
  return isReached === undefined ? '' : isReached ? 'yes' : 'no';
}

function formatBar(bar: Bar | undefined, unit: Finding['unit']): string {
  if (bar === undefined) return '-';
  return `${bar.kind === 'at-least' ? '>=' : '<='} ${formatValue(bar.value, unit)}${bar.own ? ' (own)' : ''}`;
}

function formatValue(value: number, unit: Finding['unit']): string {
  return unit === undefined ? format(value) : `${format(value)} ${unit}`;
}

function format(value: number): string {
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
