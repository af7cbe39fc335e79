// Telemetry through OpenTelemetry, for whoever has it: spans that continue over the borders of processes, metrics, ids in logs.
// In: what the parts of an instance do. Out: what an SDK collects. Made by the composition root, and given to the parts.
export { DatabaseGauges } from './database-gauges.js';
export { Telemetry } from './telemetry.js';
export { resolveTelemetry, type TelemetryOptions } from './telemetry-options.js';
export { withIds } from './traced-logger.js';
