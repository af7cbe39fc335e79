// A process that publishes the outbox of a service, and brings a broker's messages into its inbox, for applications that
// only insert and read rows.
// In: settings. Out: a running relay, its health endpoint, log lines. Called by `whizbang relay`.
// It is an instance of the service without receptors: it never claims inbox messages.

export { runRelay } from './run-relay.js';
export { type GivenSettings, resolveSettings, settingNames } from './settings.js';
