// The door to OpenTelemetry: its API, when the program has it, and whether anybody listens through it.
// In: nothing. Out: the API, the tracer and the meter; undefined where nobody listens, so that nothing is made for nobody.
// The API alone does nothing: a program sets up an SDK, at any time, also after an instance has been created.
import { packageVersion } from '../version.js';

export type Api = typeof import('@opentelemetry/api');
export type Tracer = import('@opentelemetry/api').Tracer;
export type Meter = import('@opentelemetry/api').Meter;

const name = 'whizbang';
let loading: Promise<Api | undefined> | undefined;

/** Loads the API, once per process. Undefined: the program does not have it. */
export function loadApi(): Promise<Api | undefined> {
  loading ??= import('@opentelemetry/api').catch(() => undefined);
  return loading;
}

/** Finds the tracer of the SDK, also of one that is set up later. Undefined: there is none. */
export class TracerFinder {
  readonly #api: Api;
  #provider: unknown;
  #tracer: Tracer | undefined;

  constructor(api: Api) {
    this.#api = api;
  }

  find(): Tracer | undefined {
    const global = this.#api.trace.getTracerProvider() as {
      getDelegate?: () => unknown;
      getDelegateTracer?: (name: string, version: string) => Tracer | undefined;
    };
    const provider = global.getDelegate?.() ?? global;
    if (provider === this.#provider) return this.#tracer;
    this.#provider = provider;
    this.#tracer =
      global.getDelegateTracer === undefined
        ? this.#api.trace.getTracer(name, packageVersion)
        : global.getDelegateTracer(name, packageVersion);
    return this.#tracer;
  }
}

/** Finds the meter of the SDK, also of one that is set up later. Undefined: there is none. */
export class MeterFinder {
  readonly #api: Api;
  #provider: unknown;
  #meter: Meter | undefined;

  constructor(api: Api) {
    this.#api = api;
  }

  find(): Meter | undefined {
    const provider = this.#api.metrics.getMeterProvider();
    if (provider === this.#provider) return this.#meter;
    this.#provider = provider;
    const meter = provider.getMeter(name, packageVersion);
    this.#meter = meter === this.#api.createNoopMeter() ? undefined : meter;
    return this.#meter;
  }
}
