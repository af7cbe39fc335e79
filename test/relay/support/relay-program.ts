// Run as a process of its own by the tests: the command `relay`, that also knows the broker of the tests.
import { Command } from 'commander';
import { relayCommand } from '../../../src/cli/commands/relay.js';
import { type Scheme, schemes } from '../../../src/transport-of-url.js';
import { brokerTransport } from '../../crashes/support/broker-transport.js';

const test: Scheme = {
  load:
    async () =>
    ({ port }: { port: number }) =>
      brokerTransport(port),
  optionsOf: (url) => ({ port: Number(new URL(url).port) }),
};

await new Command('whizbang').addCommand(relayCommand({ ...schemes, test })).parseAsync();
