import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/**
 * Returns a name of what gives this process its id: two processes with the same name see each other's ids. Undefined where
 * that cannot be known. A host name is not enough: containers may share one, and each has process ids of its own.
 */
export function machineName(): string | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const ids = readlinkSync('/proc/self/ns/pid');
    return createHash('sha256').update(`${hostname()} ${boot} ${ids}`).digest('base64url').slice(0, 22);
  } catch {
    return undefined;
  }
}
