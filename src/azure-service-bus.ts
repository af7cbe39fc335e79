// The door `whizbang/azure-service-bus`: services that talk over Azure Service Bus. Needs the package @azure/service-bus.
// Exports only, in the group of docs/reference/api.md, which a test holds equal to this file.

export { azureServiceBusTransport } from './transports/azure-service-bus/azure-service-bus-transport.js';
export type {
  AzureCredential,
  AzureServiceBusTransportOptions,
} from './transports/azure-service-bus/options.js';
