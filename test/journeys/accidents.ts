import type { Accident } from './journey.js';
import type { Network } from './network.js';

/** What happens to instances, whatever joins them. */
export const ofInstances: readonly Accident[] = [
  { name: 'a receiver was killed', happen: (crew) => crew.kill('shop') },
  { name: 'a sender was killed', happen: (crew) => crew.kill('till') },
  { name: 'a receiver stood still for longer than its lease', happen: (crew) => crew.stall('shop') },
];

export const silenceOf = (network: Network, whose: string): Accident => ({
  name: `the connections of the ${whose} fell silent`,
  happen: () => network.fallSilent(),
});
