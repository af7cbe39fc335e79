// A local stand-in for Azure Service Bus: AMQP 1.0 for the official client, and the administration requests over HTTP.
// In: connections of the client to 127.0.0.1. Out: topics, subscriptions with rules, sessions and their locks, as documented.
// Called by the tests of the transport. It proves the transport against the client and the documented behaviour of the
// service, not against the service. What it holds is in memory, and is still there after an outage.
import { once } from 'node:events';
import type { Server as HttpServer } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';
import rhea, { type EventContext, type Message } from 'rhea';
import { administrationOf } from './administration.js';
import { ConnectionLinks } from './links.js';
import { Namespace } from './namespace.js';
import type { AccessKey } from './requests.js';

/** 1 MiB, as a Premium namespace has unless it is set higher. */
const usualMaxMessageBytes = 1024 * 1024;

export class ServiceBusStandIn implements AsyncDisposable {
  readonly namespace = new Namespace();
  maxMessageBytes = usualMaxMessageBytes;
  losesAnswers = false;
  /** How many more transfers arrive before one is lost. */
  transfersUntilLoss = Number.POSITIVE_INFINITY;
  readonly #keys = new Map<string, AccessKey>([
    ['root', { key: 'root-key', claims: ['Send', 'Listen', 'Manage'] }],
    ['worker', { key: 'worker-key', claims: ['Send', 'Listen'] }],
    ['sender', { key: 'sender-key', claims: ['Send'] }],
  ]);
  readonly #sockets = new Set<Socket>();
  #listener: Server | undefined;
  #http: HttpServer | undefined;
  #port = 0;
  #httpPort = 0;

  static async start(): Promise<ServiceBusStandIn> {
    const standIn = new ServiceBusStandIn();
    await standIn.comeBack();
    return standIn;
  }

  get port(): number {
    return this.#port;
  }

  connectionString(name = 'root', key = this.#keys.get(name)?.key, port = this.#port): string {
    return `Endpoint=sb://127.0.0.1:${port};SharedAccessKeyName=${name};SharedAccessKey=${key};UseDevelopmentEmulator=true;`;
  }

  get administrationUrl(): string {
    return `http://127.0.0.1:${this.#httpPort}`;
  }

  /** Refuses and cuts all connections. */
  async goAway(): Promise<void> {
    const [listener, http] = [this.#listener, this.#http];
    this.#listener = this.#http = undefined;
    const closed = [listener, http].map(
      (each) => new Promise((resolve) => each?.close(resolve) ?? resolve(undefined)),
    );
    http?.closeAllConnections();
    this.cutConnections();
    await Promise.all(closed);
  }

  async comeBack(): Promise<void> {
    const container = rhea.create_container({
      id: 'stand-in',
      non_fatal_errors: ['amqp:connection:forced'],
    } as never);
    (container.sasl_server_mechanisms as { enable_anonymous(): void }).enable_anonymous();
    (container.sasl_server_mechanisms as { enable_plain(check: () => boolean): void }).enable_plain(
      () => true,
    );
    container.on('connection_open', (context: EventContext) => this.#welcome(context));
    for (const ignored of [
      'error',
      'disconnected',
      'protocol_error',
      'session_error',
      'connection_error',
      'sender_error',
      'receiver_error',
    ])
      container.on(ignored, () => {});
    const listener = container.listen({
      port: this.#port,
      host: '127.0.0.1',
      max_frame_size: 65_536,
      autoaccept: false,
    } as never) as Server;
    const http = administrationOf(this.namespace, this.#keys).listen(this.#httpPort, '127.0.0.1');
    listener.on('connection', (socket: Socket) => {
      socket.setNoDelay(true);
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    await Promise.all([listener.listening || once(listener, 'listening'), once(http, 'listening')]);
    this.#listener = listener;
    this.#http = http;
    this.#port = (listener.address() as AddressInfo).port;
    this.#httpPort = (http.address() as AddressInfo).port;
  }

  #welcome({ connection }: EventContext): void {
    const links = new ConnectionLinks(connection, {
      namespace: this.namespace,
      keys: this.#keys,
      maxMessageBytes: () => this.maxMessageBytes,
      losesTransfer: () => this.transfersUntilLoss-- === 0,
      losesAnswers: () => this.losesAnswers,
    });
    connection.on('receiver_open', (context: EventContext) => links.onReceiver(context));
    connection.on('sender_open', (context: EventContext) => links.onSender(context));
    connection.on('connection_close', () => links.onEnd());
    (connection as unknown as { socket: Socket }).socket.once('close', () => links.onEnd());
  }

  /** How many messages have arrived. */
  get published(): number {
    return this.namespace.published;
  }

  /** Has messages arrive as a foreign program sends them. */
  publish(messages: readonly Message[], topic = 'whizbang'): void {
    this.namespace.publish(topic, messages);
  }

  /** As when machines in between fail: no goodbye. */
  cutConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.goAway();
  }
}
