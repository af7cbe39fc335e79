import {
  type ConnectionPool,
  defaultSchema,
  quoteSchema,
  refuseConnectionString,
} from '../database/index.js';
import { consoleLogger, type Logger } from '../logger.js';
import { invalidOption, refuseUnknownKeys } from '../options.js';

/** A message whose payload is shown, as `mask` gets it. */
export interface MaskedMessage {
  readonly messageId: string;
  readonly type: string;
  readonly schema: string;
}

/** Options of `dashboard`. */
export interface DashboardOptions {
  /** A pool of yours. */
  readonly pool?: ConnectionPool | undefined;
  /** Or a URL: a pool of four connections is made, and closed by `close()`. */
  readonly connectionString?: string | undefined;
  /** The schemas of the services to show. Default: `['whizbang']`. */
  readonly schemas?: readonly string[] | undefined;
  /**
   * A secret that opens the page: typed into it, or sent as `Authorization: Bearer …`. Without one (and without `authorize`) only
   * requests of this machine are answered. Make it long and random.
   */
  readonly token?: string | undefined;
  /** Your own check, instead of a token: returns who it is, or undefined to refuse. The name is kept with what they do. */
  readonly authorize?: ((request: Request) => string | undefined | Promise<string | undefined>) | undefined;
  /** Whether the page may act (retry, discard, give up, release, pause), for all or for whom it returns true. Default: false, it is read-only. */
  readonly allowActions?: boolean | ((who: string) => boolean) | undefined;
  /**
   * A payload is shown when somebody asks for it. True: never. A function: what it returns is shown instead. Default: false.
   */
  readonly mask?: boolean | ((payload: unknown, message: MaskedMessage) => unknown) | undefined;
  /** A link to a trace, with `{traceId}` in it: `https://jaeger.example.com/trace/{traceId}`. */
  readonly traceUrl?: string | undefined;
  /** Gets every action, with who did it. Default: the console, for warnings and errors only. */
  readonly logger?: Logger | undefined;
}

export interface ResolvedDashboardOptions extends DashboardOptions {
  readonly schemas: readonly string[];
  readonly logger: Logger;
  mayAct(who: string): boolean;
}

const known = [
  'pool',
  'connectionString',
  'schemas',
  'token',
  'authorize',
  'allowActions',
  'mask',
  'traceUrl',
  'logger',
];

export function resolveDashboardOptions(options: DashboardOptions): ResolvedDashboardOptions {
  const owner = 'dashboard';
  refuseUnknownKeys(owner, { ...options }, known);
  const { pool, connectionString, token, authorize, allowActions = false, mask, traceUrl } = options;
  if ((pool === undefined) === (connectionString === undefined)) {
    const hint = "Give { pool } or { connectionString: 'postgres://…' }, and not both.";
    throw invalidOption(owner, 'pool', 'it needs a pool or a connectionString', hint);
  }
  if (connectionString !== undefined) refuseConnectionString(owner, 'connectionString', connectionString);
  const schemas = options.schemas ?? [defaultSchema];
  if (!Array.isArray(schemas) || schemas.length === 0 || new Set(schemas).size !== schemas.length) {
    throw invalidOption(owner, 'schemas', 'schemas is not a list of different names', "Give ['whizbang'].");
  }
  schemas.forEach(quoteSchema);
  // An empty token, as of an environment variable that is not set, would open the page to all who send none.
  if (token !== undefined && (typeof token !== 'string' || token.trim() === '')) {
    throw invalidOption(owner, 'token', 'token is empty', 'Give a long random text, or leave token out.');
  }
  if (token !== undefined && authorize !== undefined) {
    throw invalidOption(owner, 'authorize', 'it has a token and authorize', 'Give one of them.');
  }
  if (!['boolean', 'function'].includes(typeof allowActions)) {
    const hint = 'Give true, false, or a function of who it is.';
    throw invalidOption(owner, 'allowActions', `allowActions is of type ${typeof allowActions}`, hint);
  }
  if (mask !== undefined && !['boolean', 'function'].includes(typeof mask)) {
    const hint = 'Give true, false, or a function of the payload.';
    throw invalidOption(owner, 'mask', `mask is of type ${typeof mask}`, hint);
  }
  if (traceUrl !== undefined && !/^https?:\/\/.*\{traceId\}/.test(traceUrl)) {
    const hint = 'Give a link such as https://jaeger.example.com/trace/{traceId}.';
    throw invalidOption(owner, 'traceUrl', 'traceUrl is not a link with {traceId}', hint);
  }
  return Object.freeze({
    ...options,
    schemas: Object.freeze([...schemas]),
    logger: options.logger ?? consoleLogger,
    mayAct:
      typeof allowActions === 'function' ? (who: string) => allowActions(who) === true : () => allowActions,
  });
}
