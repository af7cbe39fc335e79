import { hostname, userInfo } from 'node:os';

/** Who runs the command: kept with what it does. */
export function whoIsThis(): string {
  try {
    return `${userInfo().username}@${hostname()}`;
  } catch {
    return hostname(); // a user without a name, as in some containers
  }
}
