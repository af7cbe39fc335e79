import { requestParts } from '../../../src/coordinator/wire.js';

type Part = keyof typeof requestParts;

/** Before those of a request: id, service, host, process, metadata. */
const instanceArguments = 5;

/** The text of a call that has something in each of these parts: a parameter stands in their place, not null. */
export function callWith(...parts: readonly Part[]): RegExp {
  const places = parts.map((part) => instanceArguments + Object.keys(requestParts).indexOf(part));
  const has = places.map((place) => `(?=(?:[^,()]+, ){${place}}\\$)`);
  return new RegExp(`process_work_batch\\(${has.join('')}`);
}
