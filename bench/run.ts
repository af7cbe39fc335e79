// npm run bench: runs every question, prints a table per question, writes one JSON file.
// A timing never fails the run. A benchmark that crashes does, after the others have run.

import { parseArgs } from 'node:util';
import type { BenchContext, Question } from './question.js';
import { questions } from './questions/index.js';
import { type Answer, header, table, writeJson } from './report.js';
import { openServer } from './server.js';

const usage = `npm run bench -- [--quick] [--only <name>]... [--list]

  --quick        every benchmark in a small form, to see that it still runs
  --only <name>  one question; may be given several times
  --list         names of the questions

Runs on DATABASE_URL, else on the embedded PostgreSQL (WHIZBANG_PG_BIN chooses other binaries).`;

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (options.help) {
  console.log(usage);
} else if (options.list) {
  for (const { name, asks } of questions) console.log(`${name.padEnd(16)}${asks}`);
} else {
  process.exitCode = await run(chosen(options.only), options.quick);
}

function chosen(names: readonly string[]): readonly Question[] {
  const unknown = names.filter((name) => !questions.some((question) => question.name === name));
  if (unknown.length > 0) {
    console.error(`There is no question ${unknown.join(', ')}.\n\n${usage}`);
    process.exit(2);
  }
  return names.length === 0 ? questions : questions.filter((question) => names.includes(question.name));
}

async function run(selected: readonly Question[], quick: boolean): Promise<number> {
  const server = await openServer();
  try {
    console.log(`${header(server, quick)}\n`);
    const context: Omit<BenchContext, 'progress'> = {
      server,
      quick,
      size: (full, small) => (quick ? small : full),
    };
    const answers: Answer[] = [];
    let crashes = 0;
    for (const question of selected) {
      const start = performance.now();
      try {
        const progress = (line: string) => console.error(`  ... ${question.name}: ${line}`);
        const results = await question.run({ ...context, progress });
        const answer = { question, results, seconds: (performance.now() - start) / 1000 };
        answers.push(answer);
        console.log(table(answer, quick));
      } catch (error) {
        crashes++;
        console.error(`${question.name} crashed:`, error);
      }
    }
    console.log(`written to ${await writeJson(answers, server, quick)}`);
    return crashes === 0 ? 0 : 1;
  } finally {
    await server.stop();
  }
}
