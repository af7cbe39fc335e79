#!/usr/bin/env node
// The `whizbang` command: one file per command in commands/, joined here.
// In: the command line and DATABASE_URL. Out: the answer on stdout and exit code 0, or `code: message` and a hint
// on stderr and exit code 1. It never prints a password and holds no logic of its own.
import { Command } from 'commander';
import { packageVersion } from '../version.js';
import { migrateCommand } from './commands/migrate.js';
import { perspectivesCommand } from './commands/perspectives.js';
import { addBuildCommands } from './commands/perspectives-rebuild.js';
import { reportError } from './report-error.js';

const program = new Command('whizbang')
  .description('Reliable, ordered messaging on the PostgreSQL you already have.')
  .version(packageVersion)
  // An option behind a command is that command's: --version of `perspectives skip`, too.
  .enablePositionalOptions()
  .addCommand(migrateCommand())
  .addCommand(addBuildCommands(perspectivesCommand()));

try {
  await program.parseAsync();
} catch (error) {
  reportError(error);
  process.exitCode = 1;
}
