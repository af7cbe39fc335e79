import { Command } from 'commander';
import { defaultSchema } from '../../database/index.js';
import { subscribe } from '../../migrate/index.js';
import { jsonOption } from '../arguments.js';
import { databaseUrl, databaseUrlOption } from '../database-url.js';
import { type DatabaseCommandOptions, example } from '../with-database.js';

type SubscribeOptions = DatabaseCommandOptions & { readonly json?: boolean };

export function subscribeCommand(): Command {
  return new Command('subscribe')
    .description(
      'Declare which events the service of a schema will receive, before it first starts: they wait for it.',
    )
    .argument('<events...>', 'their types, or their topics where these differ')
    .addOption(databaseUrlOption())
    .option('--schema <name>', 'schema of the service that will receive them', defaultSchema)
    .addOption(jsonOption())
    .addHelpText('after', example('whizbang subscribe OrderPlaced OrderPaid --schema warehouse'))
    .action(async (subscriptions: string[], options: SubscribeOptions) => {
      const { schema } = options;
      await subscribe({ connectionString: databaseUrl(options), schema, subscriptions });
      const text = `Schema ${schema} receives ${subscriptions.join(', ')} from now on.`;
      console.log(options.json === true ? JSON.stringify({ schema, subscriptions }) : text);
    });
}
