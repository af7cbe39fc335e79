// What a message is for users: its definition, its payload as it is checked at both edges, its envelope.
// In: definitions and payloads, or rows. Out: messages to send, validated payloads, envelopes.
// Called by receptors, the dispatcher and the workers. It never talks to the database and never sends.

export {
  type CommandOptions,
  type CommandWithResultOptions,
  defineCommand,
  defineEvent,
  type EventOptions,
  type SealedOptions,
} from './define.js';
export {
  type CommandDefinition,
  type EventDefinition,
  isEventDefinition,
  isMessageToSend,
  type MessageDefinition,
  type MessageToSend,
  type PayloadOf,
  type Upcaster,
} from './definition.js';
export { isName, isTooLong, longestName } from './definition-options.js';
export type { Envelope, Hop, MessageKind } from './envelope.js';
export { finish } from './finish.js';
export { type MessageIssue, readIssues } from './issues.js';
export { copyAsJson, findFault } from './json.js';
export {
  answerAddressOf,
  type EnvelopeRow,
  envelopeOf,
  mostHops,
  readEnvelope,
  readMetadata,
  readPriority,
  toMetadata,
} from './metadata.js';
export { pathText } from './path.js';
export { jsonResult, readPayload, refuseLasting, validatePayload, validateResult } from './payload.js';
export { type SubjectKey, seal, sealedWith, subjectOf, type Unsealed, unseal } from './sealing.js';
export {
  isStandardSchema,
  type SchemaOutput,
  type SchemaResult,
  type StandardSchema,
} from './standard-schema.js';
export { streamIdOf, streamNamespace } from './stream-id.js';
export {
  childTraceparent,
  newTraceparent,
  parseTraceparent,
  traceIdOf,
} from './trace-context.js';
