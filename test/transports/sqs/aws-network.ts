// The way between one program and the stand-in for AWS, which can fail where a test wants it to.
// In: requests of the AWS SDK. Out: the stand-in's answers, none, or others. Called by the tests of the SQS transport.
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A request as IAM names it, such as `ReceiveMessage`, and its body: a form for SNS, JSON for SQS. */
interface AwsRequest {
  readonly action: string;
  readonly body: string;
}

interface AwsAnswer {
  readonly status: number;
  readonly body: string;
}

export interface AwsNetwork extends AsyncDisposable {
  readonly url: string;
  /** What was asked for, in order. */
  readonly actions: string[];
  /** Hang up on whoever asks. */
  isAway: boolean;
  /** Have everything done, and tell nobody. */
  losesAnswers: boolean;
  /** Answers in place of the stand-in, or changes what it is asked. */
  intercept:
    | ((
        request: AwsRequest,
      ) => AwsAnswer | { readonly instead: string; readonly answer: Rewrite } | undefined)
    | undefined;
  /** Hangs up on everybody. */
  cut(): void;
}

type Rewrite = (text: string) => string;

export async function startAwsNetwork(target: string): Promise<AwsNetwork> {
  const sockets = new Set<Socket>();
  const server = createServer((incoming, response) => void pass(incoming, response));
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  async function pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    if (network.isAway) return void incoming.socket.destroy();
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('utf8');
    const target = incoming.headers['x-amz-target'] as string | undefined;
    const action = target?.split('.')[1] ?? new URLSearchParams(body).get('Action') ?? '';
    network.actions.push(action);
    const changed = network.intercept?.({ action, body });
    const answer =
      changed !== undefined && 'status' in changed
        ? changed
        : await forward(incoming, changed?.instead ?? body, changed?.answer ?? ((text) => text));
    if (answer === undefined || network.losesAnswers || network.isAway) return void incoming.socket.destroy();
    const type = target === undefined ? 'text/xml' : 'application/x-amz-json-1.0';
    response.writeHead(answer.status, { 'content-type': type }).end(answer.body);
  }

  async function forward(
    incoming: IncomingMessage,
    body: string,
    rewrite: Rewrite,
  ): Promise<AwsAnswer | undefined> {
    const { host: _, connection: __, 'content-length': ___, ...headers } = incoming.headers;
    const outgoing = request(target, { method: 'POST', headers, agent: false });
    outgoing.end(body);
    try {
      const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
      const chunks: Buffer[] = [];
      for await (const chunk of answer) chunks.push(chunk as Buffer);
      return { status: answer.statusCode ?? 0, body: rewrite(Buffer.concat(chunks).toString('utf8')) };
    } catch {
      return undefined;
    }
  }

  const network: AwsNetwork = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    actions: [],
    isAway: false,
    losesAnswers: false,
    intercept: undefined,
    cut: () => {
      for (const socket of sockets) socket.destroy();
    },
    async [Symbol.asyncDispose]() {
      network.isAway = true;
      network.cut();
      server.close();
      await once(server, 'close');
    },
  };
  return network;
}

/** An answer of SQS that refuses. */
export const sqsRefusal = (code: string, message = 'no', status = 400): AwsAnswer => ({
  status,
  body: JSON.stringify({ __type: `com.amazonaws.sqs#${code}`, message }),
});

/** An answer of SNS that refuses. */
export const snsRefusal = (code: string, message = 'no', status = 400): AwsAnswer => ({
  status,
  body: `<ErrorResponse xmlns="http://sns.amazonaws.com/doc/2010-03-31/"><Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error><RequestId>1</RequestId></ErrorResponse>`,
});

/** Has SNS fail the entries of a batch for which it holds: the stand-in does not see them. */
export function failingEntries(
  fails: (dedupId: string) => boolean,
  senderFault: boolean,
): NonNullable<AwsNetwork['intercept']> {
  return ({ action, body }) => {
    if (action !== 'PublishBatch') return undefined;
    const form = new URLSearchParams(body);
    const prefixes = new Set([...form.keys()].flatMap((key) => /^\w+\.member\.\d+\./.exec(key)?.[0] ?? []));
    const failed = [...prefixes].filter((prefix) => fails(form.get(`${prefix}MessageDeduplicationId`) ?? ''));
    const members = failed.map(
      (prefix) =>
        `<member><Id>${form.get(`${prefix}Id`)}</Id><Code>InternalError</Code><Message>failed</Message><SenderFault>${senderFault}</SenderFault></member>`,
    );
    for (const key of [...form.keys()]) if (failed.some((prefix) => key.startsWith(prefix))) form.delete(key);
    return {
      instead: form.toString(),
      answer: (text) => text.replace('<Failed>', `<Failed>${members.join('')}`),
    };
  };
}
