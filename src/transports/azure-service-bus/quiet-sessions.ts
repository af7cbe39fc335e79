import type { ServiceBusClient } from '@azure/service-bus';

/** What the client keeps, and does not show. Whatever is missing of it in another version is done without. */
interface Inside {
  readonly _connectionContext?: Context;
}

interface Context {
  readonly connection?: SessionMaker;
  refreshConnection?(): void;
}

interface SessionMaker {
  createSession?(...options: unknown[]): Promise<Closing>;
}

interface Closing {
  close(...options: unknown[]): Promise<void>;
}

/**
 * Has the AMQP sessions of a client close without an error. When the client has waited in vain for a link, it closes the
 * session and looks at that no more; over a connection that died silently this fails a minute later, and the rejection,
 * which nobody handles, would end the process. Whoever else closes a session only logs that it failed.
 */
export function quietSessions(client: ServiceBusClient): ServiceBusClient {
  const context = (client as unknown as Inside)._connectionContext;
  quieten(context?.connection);
  const refresh = context?.refreshConnection?.bind(context);
  if (context !== undefined && refresh !== undefined)
    context.refreshConnection = () => {
      refresh();
      quieten(context.connection);
    };
  return client;
}

function quieten(connection: SessionMaker | undefined): void {
  const create = connection?.createSession?.bind(connection);
  if (connection === undefined || create === undefined) return;
  connection.createSession = async (...options) => {
    const session = await create(...options);
    const close = session.close.bind(session);
    session.close = (...how) => close(...how).catch(() => {});
    return session;
  };
}
