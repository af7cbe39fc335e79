import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Finds a free port. It is below the range that systems use for outgoing connections, so that no such
 * connection takes it before the server has bound it, or while the server restarts.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_768);
    if (await isPortFree(port)) return port;
  }
}

export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)));
  });
}
