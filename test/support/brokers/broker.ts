// Where the server of a transport comes from: the one that its variable names, else the one on the standard local port,
// else the installed one, started for this test file. Without any, the file is skipped, and the last lines of the run say
// so (test/support/plain-line-reporter.ts). In CI it fails instead: there, no transport may go untried.
// In: a broker and the tests that need it. Out: those tests, or one that is skipped with the reason.
import { afterAll, it } from 'vitest';
import { notTried } from './not-tried.js';

export interface Broker<Server extends AsyncDisposable> {
  /** As in `RabbitMQ`. */
  readonly name: string;
  /** One sentence: what to install, or which variable to set. */
  readonly howToTry: string;
  /** Undefined: there is none on this machine. */
  find(): Promise<Server | undefined>;
}

/** To be awaited at the top of a test file. The server is disposed of after the last test of the file. */
export async function withBroker<Server extends AsyncDisposable>(
  broker: Broker<Server>,
  tests: (server: Server) => void,
): Promise<void> {
  const server = await broker.find();
  if (server === undefined) {
    it(`the transport over ${broker.name} is tried`, ({ skip }) => {
      const reason = notTried(broker.name, broker.howToTry);
      if (process.env.CI === 'true') throw new Error(`${reason} In CI every transport has to be tried.`);
      skip(reason);
    });
    return;
  }
  afterAll(() => server[Symbol.asyncDispose]());
  tests(server);
}
