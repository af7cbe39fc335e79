// Azure Service Bus as the transport between services: one topic, a subscription with sessions per service.
// In: how to reach it. Out: a transport that keeps the order of every stream by sessions.
// Called by the runtime through Transport. The client is loaded when a connection is opened, not before.
import type { Transport } from '../transport.js';
import { AzureConnection } from './azure-connection.js';
import { type AzureServiceBusTransportOptions, settingsOf } from './options.js';

/**
 * A transport over Azure Service Bus, tiers Standard and Premium. Needs the package `@azure/service-bus`.
 * See docs/transports/azure-service-bus.md. Throws INVALID_OPTION.
 */
export function azureServiceBusTransport(options: AzureServiceBusTransportOptions): Transport {
  const settings = settingsOf(options);
  return {
    name: 'azure-service-bus',
    traits: { moves: settings.sessions, sent: 'replicated', knowsReceivers: false },
    connect: (host) => AzureConnection.open(settings, host),
  };
}
