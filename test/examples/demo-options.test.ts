import { describe, expect, it } from 'vitest';
import { parseOptions, usage } from '../../examples/demo/options.js';

describe('The options of the demo', () => {
  it('the demo sends 3000 messages over 200 streams with three instances by default', () => {
    expect(parseOptions([])).toEqual({ messages: 3000, streams: 200, instances: 3, seed: 1 });
  });

  it('the demo takes options with or without an equals sign', () => {
    const options = parseOptions(['--messages', '500', '--streams=20', '--instances', '4', '--seed=7']);
    expect(options).toEqual({ messages: 500, streams: 20, instances: 4, seed: 7 });
  });

  it('the help of the demo names all options', () => {
    expect(parseOptions(['--help'])).toBeUndefined();
    for (const name of ['messages', 'streams', 'instances', 'seed']) expect(usage).toContain(`--${name}`);
  });

  it.each([
    ['--mesages', '5', 'There is no option --mesages. Did you mean --messages?'],
    ['-x', '', 'There is no option -x. Known options: --messages, --streams, --instances, --seed, --help.'],
    ['now', '', 'now is not an option. Try --help.'],
    ['--messages', '1', '--messages takes a whole number from 100 to 1000000.'],
    ['--seed', 'x', '--seed takes a whole number from 0 to 2147483647.'],
    ['--instances', '2', '--instances takes a whole number from 3 to 8.'],
    ['--streams', '3001', '3000 messages do not fill 3001 streams. Give fewer --streams.'],
  ])('the demo refuses %s %s with what to do', (name, value, message) => {
    expect(() => parseOptions([name, value].filter((arg) => arg !== ''))).toThrow(message);
  });

  it('the demo refuses an option without its value', () => {
    expect(() => parseOptions(['--seed'])).toThrow('--seed takes a whole number');
  });
});
