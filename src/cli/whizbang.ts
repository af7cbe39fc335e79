#!/usr/bin/env node
// The `whizbang` command.
// In: the command line and DATABASE_URL. Out: the answer on stdout and exit code 0, or `code: message` and a hint
// on stderr and exit code 1. It never prints a password and holds no logic of its own.
import { createProgram } from './program.js';
import { reportError } from './report-error.js';

const program = createProgram();
/** These serve others: they go on when nobody reads what they print. */
const services = ['relay', 'dashboard', 'dev'];
program.hook('preAction', (_, command) => {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (services.includes(command.name())) return;
    process.exit(error.code === 'EPIPE' ? 0 : 1); // who read it has seen enough, as `head` does
  });
});

try {
  await program.parseAsync();
} catch (error) {
  reportError(error);
  process.exitCode = 1;
}
