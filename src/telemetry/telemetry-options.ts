import { invalidOption, type ResolvedOptions, resolveOptions, telemetryOptions } from '../options.js';

/** How telemetry is made. */
export interface TelemetryOptions {
  /**
   * For how long after it was sent a message continues the trace of its sender. What is handled later begins a trace of its
   * own, with a link to that of the sender. Default: 300.
   */
  readonly continueSeconds?: number | undefined;
}

export type ResolvedTelemetry = ResolvedOptions<typeof telemetryOptions>;

/** Undefined: no telemetry. */
export function resolveTelemetry(
  given: boolean | TelemetryOptions | undefined,
): ResolvedTelemetry | undefined {
  if (given === false) return undefined;
  if (given !== undefined && given !== true && (typeof given !== 'object' || given === null)) {
    const fact = 'telemetry is neither a boolean nor an object';
    const hint = 'Write telemetry: false, or telemetry: { continueSeconds: 300 }.';
    throw invalidOption('createWhizbang', 'telemetry', fact, hint);
  }
  const options = typeof given === 'object' ? { ...given } : {};
  return resolveOptions('createWhizbang telemetry', telemetryOptions, options);
}
