// The commands: one file for each in commands/, joined here.
// In: nothing. Out: a program that has not read a command line yet. Called by the `whizbang` command, and by the test of all commands.
import { Command } from 'commander';
import { packageVersion } from '../version.js';
import {
  giveUpCommand,
  pauseCommand,
  releaseCommand,
  resumeCommand,
  retryNowCommand,
} from './commands/act.js';
import { dashboardCommand } from './commands/dashboard.js';
import { deadLettersCommand } from './commands/dead-letters.js';
import { devCommand } from './commands/dev.js';
import { doctorCommand, reportCommand } from './commands/doctor.js';
import { explainCommand } from './commands/explain.js';
import { eventsCommand, operationsCommand } from './commands/journal.js';
import { migrateCommand } from './commands/migrate.js';
import { perspectivesCommand } from './commands/perspectives.js';
import { addBuildCommands } from './commands/perspectives-rebuild.js';
import { relayCommand } from './commands/relay.js';
import { instancesCommand, statusCommand, streamsCommand } from './commands/status.js';
import { subscribeCommand } from './commands/subscribe.js';
import { tailCommand } from './commands/tail.js';

export function createProgram(): Command {
  return (
    new Command('whizbang')
      .description('Reliable, ordered messaging on the PostgreSQL you already have.')
      .version(packageVersion)
      // An option behind a command is that command's: --version of `perspectives skip`, too.
      .enablePositionalOptions()
      .addCommand(migrateCommand())
      .addCommand(statusCommand())
      .addCommand(instancesCommand())
      .addCommand(streamsCommand())
      .addCommand(explainCommand())
      .addCommand(eventsCommand())
      .addCommand(tailCommand())
      .addCommand(dashboardCommand())
      .addCommand(doctorCommand())
      .addCommand(reportCommand())
      .addCommand(deadLettersCommand())
      .addCommand(retryNowCommand())
      .addCommand(giveUpCommand())
      .addCommand(releaseCommand())
      .addCommand(pauseCommand())
      .addCommand(resumeCommand())
      .addCommand(operationsCommand())
      .addCommand(subscribeCommand())
      .addCommand(relayCommand())
      .addCommand(devCommand())
      .addCommand(addBuildCommands(perspectivesCommand()))
  );
}
