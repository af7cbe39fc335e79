// The two addresses of Service Bus that are asked and answer: `$cbs` takes tokens, `$management` renews locks and keeps rules.
import { createHmac } from 'node:crypto';
import rhea, { type Message } from 'rhea';
import type { Filter, Namespace, StandInSubscription } from './namespace.js';

export type Claim = 'Send' | 'Listen' | 'Manage';
export interface AccessKey {
  readonly key: string;
  readonly claims: readonly Claim[];
}

export interface Answer {
  readonly status: number;
  readonly description?: string;
  readonly condition?: string;
  readonly body?: unknown;
  /** What the connection may do from now on at the entity, by its token. */
  readonly claims?: readonly Claim[];
}

/** Checks a token: it has to be signed with a key that is known. */
export function answerToken(request: Message, keys: ReadonlyMap<string, AccessKey>): Answer {
  const fields = new URLSearchParams(String(request.body).replace('SharedAccessSignature ', ''));
  const known = keys.get(fields.get('skn') ?? '');
  if (known === undefined) return unauthorized;
  const text = `${encodeURIComponent(fields.get('sr') ?? '')}\n${fields.get('se')}`;
  const signature = createHmac('sha256', known.key).update(text).digest('base64');
  if (signature !== fields.get('sig')) return unauthorized;
  return { status: 202, description: 'Accepted', claims: known.claims };
}

const unauthorized: Answer = {
  status: 401,
  description: 'InvalidSignature: The token has an invalid signature.',
  condition: 'amqp:unauthorized-access',
};

export function answerManagement(path: string, request: Message, namespace: Namespace): Answer {
  const subscription = namespace.byPath(path);
  if (subscription === undefined)
    return {
      status: 404,
      description: `The messaging entity ${path} could not be found.`,
      condition: 'amqp:not-found',
    };
  const body = request.body as Record<string, unknown>;
  switch (request.application_properties?.operation) {
    case 'com.microsoft:renew-session-lock':
      return renew(subscription, body, String(request.application_properties['associated-link-name']));
    case 'com.microsoft:add-rule':
      return addRule(subscription, body);
    case 'com.microsoft:remove-rule':
      subscription.rules.delete(String(body['rule-name']));
      return { status: 200 };
    case 'com.microsoft:enumerate-rules':
      return listRules(subscription, body);
    default:
      return { status: 501, description: 'The stand-in does not know this operation.' };
  }
}

function renew(subscription: StandInSubscription, body: Record<string, unknown>, link: string): Answer {
  const holder = subscription.holderOf(String(body['session-id']));
  if (holder === undefined || holder.link.name !== link)
    return {
      status: 410,
      description: 'The session lock was lost.',
      condition: 'com.microsoft:session-lock-lost',
    };
  return { status: 200, body: { expiration: new Date(holder.renew()) } };
}

function addRule(subscription: StandInSubscription, body: Record<string, unknown>): Answer {
  const name = String(body['rule-name']);
  if (!/^[\w.-]{1,50}$/.test(name))
    return { status: 400, description: `${name} is no name of a rule.`, condition: 'amqp:invalid-field' };
  const same = [...subscription.rules.keys()].some((each) => each.toLowerCase() === name.toLowerCase());
  if (same)
    return {
      status: 409,
      description: `Rule ${name} exists.`,
      condition: 'com.microsoft:entity-already-exists',
    };
  const description = body['rule-description'] as Record<string, Record<string, string>>;
  const to = description['correlation-filter']?.to;
  subscription.rules.set(
    name,
    to === undefined ? { sql: String(description['sql-filter']?.expression) } : { to },
  );
  return { status: 200 };
}

function listRules({ rules }: StandInSubscription, { skip, top }: Record<string, unknown>): Answer {
  const page = [...rules].slice(Number(skip), Number(skip) + Number(top));
  if (page.length === 0) return { status: 204 };
  return { status: 200, body: { rules: page.map(([name, filter]) => asRule(name, filter)) } };
}

const codes = {
  rule: 1_335_734_829_060,
  sql: 83_483_426_822,
  correlation: 83_483_426_825,
  none: 1_335_734_829_061,
};
const described = (code: number, list: readonly unknown[]) =>
  rhea.types.described(rhea.types.wrap_ulong(code), rhea.types.wrap_list(list as never));

function asRule(name: string, filter: Filter): unknown {
  const given =
    'to' in filter
      ? described(codes.correlation, [null, null, filter.to, null, null, null, null, null])
      : described(codes.sql, [filter.sql, 20]);
  return { 'rule-description': described(codes.rule, [given, described(codes.none, []), name]) };
}
