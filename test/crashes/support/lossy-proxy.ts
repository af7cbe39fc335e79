// A network between an instance and PostgreSQL that loses one message, where a test wants it to.
// It reads along in PostgreSQL's protocol, as much of it as it takes to know a statement by its text and an answer by
// its end: a message is a letter, a length and a body; an answer ends with ReadyForQuery.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

interface LossyProxy extends AsyncDisposable {
  /** The given connection string, by way of this proxy. */
  readonly connectionString: string;
  /** Cuts the client off at the next statement that matches, before the server has got it. Resolves when it happened. */
  loseQuestion(statement: RegExp): Promise<void>;
  /**
   * Cuts the client off at the next statement that matches, when the server has answered it: it was done, and nobody
   * learns of it. With `answer` only when the answer matches that too. Resolves when it happened.
   */
  loseAnswer(statement: RegExp, answer?: RegExp): Promise<void>;
  /** From now on nothing passes on the connections there are, and nobody is told, also not of their end. New ones work. */
  fallSilent(): void;
  /**
   * The same for the connection on which the next statement comes that matches, or for all of them at that moment. Resolves
   * when it happened.
   */
  silenceAt(statement: RegExp, silence: Silence): Promise<void>;
  /**
   * From now on new connections are silent too: they are taken, and never answered. `end` lets those work that come
   * after it. `tried` resolves when so many have come.
   */
  swallowNew(): { readonly end: () => void; readonly tried: (count: number) => Promise<void> };
}

export interface Silence {
  /**
   * `question`: the server does not get the statement. `middle`: it gets the beginning, and waits for the rest. `answer`: it gets
   * the statement, and its answer is lost.
   */
  readonly loses: 'question' | 'middle' | 'answer';
  readonly on: 'its connection' | 'all connections';
}

interface Loss {
  readonly statement: RegExp;
  /** Undefined: the question is lost. */
  readonly answer: RegExp | undefined;
  /** Undefined: the client is cut off. */
  readonly silence?: Silence;
  readonly happened: () => void;
}

const query = 'Q'.charCodeAt(0);
const parse = 'P'.charCodeAt(0);

/** ReadyForQuery, which is what an answer ends with, but for its last byte: the state of the transaction. */
const readyForQuery = Buffer.from([0x5a, 0, 0, 0, 5]);
const endsAnswer = (bytes: Buffer) => bytes.subarray(-6, -1).equals(readyForQuery);

export async function startLossyProxy(connectionString: string): Promise<LossyProxy> {
  const target = new URL(connectionString);
  const sockets = new Set<Socket>();
  const silencers = new Set<() => void>();
  let loss: Loss | undefined;
  const swallowed = { isOn: false, count: 0, onOne: () => {} };

  const listener = createServer((client) => {
    const server = connect(Number(target.port || 5432), target.hostname);
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => {});
    }
    client.on('close', () => isSilent || server.end());
    server.on('close', () => isSilent || client.destroy());
    const statements = statementReader();
    /** The answer to a statement that matched, held back until it is complete. */
    let heldBack: Buffer | undefined;
    let isSilent = swallowed.isOn;
    if (isSilent) {
      swallowed.count++;
      swallowed.onOne();
    }
    const fallSilent = () => {
      isSilent = true;
    };
    silencers.add(fallSilent);
    client.on('data', (bytes) => {
      if (isSilent) return;
      const matches = statements(bytes).some((text) => loss?.statement.test(text));
      if (matches && loss?.silence !== undefined) {
        const { loses, on } = loss.silence;
        if (loses === 'answer') server.write(bytes);
        // The first message, which names the statement: what its values are comes in the next.
        if (loses === 'middle') server.write(bytes.subarray(0, 1 + bytes.readInt32BE(1)));
        for (const silence of on === 'its connection' ? [fallSilent] : silencers) silence();
        happen();
        return;
      }
      if (matches && loss?.answer === undefined) {
        cutOff(client);
        return;
      }
      if (matches) heldBack = Buffer.alloc(0);
      server.write(bytes);
    });
    server.on('data', (bytes) => {
      if (isSilent) return;
      const answer = Buffer.concat([heldBack ?? Buffer.alloc(0), bytes]);
      if (heldBack !== undefined && !endsAnswer(answer)) {
        heldBack = answer;
        return;
      }
      const isLost = heldBack !== undefined && loss?.answer?.test(answer.toString('latin1'));
      heldBack = undefined;
      if (isLost) cutOff(client);
      else if (client.writable) client.write(answer);
    });
  });
  function cutOff(client: Socket): void {
    client.destroy();
    happen();
  }
  function happen(): void {
    loss?.happened();
    loss = undefined;
  }
  function lose(what: Omit<Loss, 'happened'>): Promise<void> {
    return new Promise((resolve) => {
      loss = { ...what, happened: resolve };
    });
  }
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const through = new URL(connectionString);
  through.hostname = '127.0.0.1';
  through.port = String((listener.address() as AddressInfo).port);

  return {
    connectionString: through.href,
    loseQuestion: (statement) => lose({ statement, answer: undefined }),
    loseAnswer: (statement, answer = /^/) => lose({ statement, answer }),
    silenceAt: (statement, silence) => lose({ statement, answer: undefined, silence }),
    fallSilent: () => {
      for (const silence of silencers) silence();
    },
    swallowNew: () => {
      swallowed.isOn = true;
      return {
        end: () => {
          swallowed.isOn = false;
        },
        tried: (count) =>
          new Promise((resolve) => {
            swallowed.onOne = () => swallowed.count >= count && resolve();
            swallowed.onOne();
          }),
      };
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      listener.close();
      await once(listener, 'close');
    },
  };
}

/** The texts of the statements in what a client sends, also when a message comes in pieces. */
function statementReader(): (bytes: Buffer) => string[] {
  let buffer = Buffer.alloc(0);
  let isGreeted = false;
  return (bytes) => {
    buffer = Buffer.concat([buffer, bytes]);
    const texts: string[] = [];
    for (;;) {
      // The first message of a connection has no letter.
      const letters = isGreeted ? 1 : 0;
      if (buffer.length < letters + 4) return texts;
      const end = letters + buffer.readInt32BE(letters);
      if (buffer.length < end) return texts;
      const body = buffer.toString('utf8', letters + 4, end - 1);
      if (isGreeted && buffer[0] === query) texts.push(body);
      else if (isGreeted && buffer[0] === parse) texts.push(body.slice(body.indexOf('\0') + 1));
      isGreeted = true;
      buffer = buffer.subarray(end);
    }
  };
}
