// The pages as tests read them: in: a path from the root of the repository; out: its text, its blocks of code, its tables.
// Used by the tests that hold the documentation to the code. It never changes a page.
import { readFileSync } from 'node:fs';

export const root = new URL('../../', import.meta.url);

export function pageText(path: string): string {
  return readFileSync(new URL(path, root), 'utf8');
}

/** The doors of the package: what a program imports, and the file that it is here. */
export const doors: Readonly<Record<string, string>> = {
  whizbang: 'src/index.ts',
  'whizbang/transport': 'src/transport.ts',
  'whizbang/coordination': 'src/coordination.ts',
  'whizbang/dashboard': 'src/dashboard/index.ts',
  'whizbang/embedded': 'src/embedded/index.ts',
  'whizbang/testing': 'src/testing/index.ts',
  'whizbang/rabbitmq': 'src/rabbitmq.ts',
  'whizbang/nats': 'src/nats.ts',
  'whizbang/azure-service-bus': 'src/azure-service-bus.ts',
  'whizbang/sqs': 'src/sqs.ts',
  'whizbang/nestjs': 'src/nestjs/index.ts',
};

/** The blocks of code of one language, in order. */
export function codeBlocks(text: string, language: string): string[] {
  const blocks = text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm);
  return [...blocks].filter(([, found]) => found === language).map(([, , code = '']) => code);
}

/** The sections of a page: each with its heading and what stands below it, up to the next heading of any level. */
export function sections(text: string): { heading: string; body: string }[] {
  const parts = text.split(/^#+ (.*)$/m).slice(1);
  return parts.flatMap((part, i) => (i % 2 === 0 ? [{ heading: part, body: parts[i + 1] ?? '' }] : []));
}

/** The `code` words of a piece of text. */
export function codeWords(text: string): string[] {
  return [...text.matchAll(/`([^`\n]+)`/g)].map(([, word = '']) => word);
}
