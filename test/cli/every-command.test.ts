// What every command of the command line has, as the commands themselves say it.
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.js';
import { pageText, sections } from '../docs/page.js';

/** The commands that do something, by what is typed. */
function commandsOf(command: Command, typed: readonly string[] = []): Map<string, Command> {
  const found = new Map<string, Command>();
  for (const each of command.commands) {
    const name = [...typed, each.name()];
    if (each.commands.length === 0 || each.options.some(({ long }) => long === '--json'))
      found.set(name.join(' '), each);
    for (const [deeper, inner] of commandsOf(each, name)) found.set(deeper, inner);
  }
  return found;
}

/** The whole help, with what is added behind it. */
function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part) });
  command.outputHelp();
  return text;
}

const commands = [...commandsOf(createProgram())];

describe('Every command', () => {
  it('every command has its place on the page of the command line', () => {
    const page = pageText('docs/reference/command-line.md');
    const missing = commands
      .map(([name]) => name)
      .filter((name) => !page.includes(`${name.split(' ').at(-1)}`));
    expect(commands.length).toBeGreaterThan(25);
    expect(missing).toEqual([]);
  });

  it('every part of that page says what the exit codes are', () => {
    const parts = sections(pageText('docs/reference/command-line.md')).filter(
      ({ heading }) => heading !== 'Command line',
    );
    expect(parts.length).toBeGreaterThan(8);
    expect(parts.filter(({ body }) => !/exit(s| code)/i.test(body)).map(({ heading }) => heading)).toEqual(
      [],
    );
  });

  it.each(commands)('whizbang %s has --json, and --help with an example of itself', (name, command) => {
    expect(command.options.map(({ long }) => long)).toContain('--json');
    expect(helpOf(command)).toMatch(new RegExp(`Examples?:\\s+(\\$ )?whizbang ${name}`));
  });
});
