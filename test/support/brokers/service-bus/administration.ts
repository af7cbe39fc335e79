// The few requests of the administration client that the transport makes, answered as Atom XML over plain HTTP.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Filter, Namespace, StandInSubscription } from './namespace.js';
import type { AccessKey } from './requests.js';

const forever = 'P10675199DT2H48M5.4775807S';

export function administrationOf(namespace: Namespace, keys: ReadonlyMap<string, AccessKey>): Server {
  return createServer((request, response) => {
    void handle(namespace, keys, request, response);
  });
}

async function handle(
  namespace: Namespace,
  keys: ReadonlyMap<string, AccessKey>,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const body = await text(request);
  const path = decodeURIComponent(new URL(request.url ?? '/', 'http://localhost').pathname.slice(1));
  const answer = (status: number, content: string) => {
    response.writeHead(status, { 'content-type': 'application/xml' });
    response.end(content);
  };
  const skn = /skn=([^&]+)/.exec(String(request.headers.authorization))?.[1] ?? '';
  if (!keys.get(skn)?.claims.includes('Manage'))
    return answer(401, failure(401, 'Manage claim is required.'));
  const [, topic = path, name] = /^(.+)\/subscriptions\/([^/]+)$/i.exec(path) ?? [];
  const exists =
    name === undefined ? namespace.hasTopic(topic) : namespace.subscription(topic, name) !== undefined;
  const updates = request.headers['if-match'] === '*';
  if (request.method === 'PUT') {
    if (exists && !updates) return answer(409, failure(409, `${path} exists.`));
    if (name === undefined) namespace.createTopic(topic);
    else if (!namespace.hasTopic(topic)) return answer(404, failure(404, `${topic} does not exist.`));
    else put(namespace, topic, name, body);
  } else if (!exists) {
    // As Service Bus does: a topic that does not exist is an empty feed.
    return name === undefined
      ? answer(
          200,
          '<feed xmlns="http://www.w3.org/2005/Atom"><title>Publicly Listed Services</title></feed>',
        )
      : answer(404, failure(404, `${path} does not exist.`));
  }
  const subscription = name === undefined ? undefined : namespace.subscription(topic, name);
  answer(
    request.method === 'PUT' ? 201 : 200,
    subscription === undefined ? topicEntry(topic) : subscriptionEntry(path, subscription),
  );
}

function put(namespace: Namespace, topic: string, name: string, body: string): void {
  const field = (tag: string) => new RegExp(`<${tag}[^>]*>([^<]*)</${tag}>`).exec(body)?.[1];
  const [, minutes = '0', seconds = '0'] =
    /^PT(?:(\d+)M)?(?:([\d.]+)S)?$/.exec(field('LockDuration') ?? 'PT1M') ?? [];
  const settings = {
    requiresSession: field('RequiresSession') === 'true',
    lockMs: Number(minutes) * 60_000 + Number(seconds) * 1_000,
    maxDeliveryCount: Number(field('MaxDeliveryCount') ?? 10),
  };
  const existing = namespace.subscription(topic, name);
  if (existing !== undefined) return void Object.assign(existing, settings);
  const sql = field('SqlExpression');
  const rules: Record<string, Filter> = { $Default: { sql: sql ?? '1=1' } };
  namespace.createSubscription(topic, name, { ...settings, rules });
}

const failure = (code: number, detail: string) =>
  `<Error><Code>${code}</Code><Detail>${detail}</Detail></Error>`;

const entry = (id: string, content: string) =>
  `<entry xmlns="http://www.w3.org/2005/Atom"><id>sb://127.0.0.1/${id}</id><content type="application/xml">${content}</content></entry>`;

const topicEntry = (name: string) =>
  entry(
    name,
    `<TopicDescription><DefaultMessageTimeToLive>${forever}</DefaultMessageTimeToLive><MaxSizeInMegabytes>1024</MaxSizeInMegabytes><RequiresDuplicateDetection>false</RequiresDuplicateDetection><DuplicateDetectionHistoryTimeWindow>PT10M</DuplicateDetectionHistoryTimeWindow><EnableBatchedOperations>true</EnableBatchedOperations><SupportOrdering>true</SupportOrdering><EnablePartitioning>false</EnablePartitioning><EnableExpress>false</EnableExpress><Status>Active</Status></TopicDescription>`,
  );

function subscriptionEntry(
  path: string,
  { lockMs, requiresSession, maxDeliveryCount, messages, deadLetters }: StandInSubscription,
): string {
  const now = new Date().toISOString();
  const counts = 'd2p1';
  return entry(
    path.replace(/\/subscriptions\//i, '/Subscriptions/'),
    `<SubscriptionDescription><LockDuration>PT${lockMs / 1_000}S</LockDuration><RequiresSession>${requiresSession}</RequiresSession><DefaultMessageTimeToLive>${forever}</DefaultMessageTimeToLive><DeadLetteringOnMessageExpiration>false</DeadLetteringOnMessageExpiration><DeadLetteringOnFilterEvaluationExceptions>true</DeadLetteringOnFilterEvaluationExceptions><MessageCount>${messages.length}</MessageCount><MaxDeliveryCount>${maxDeliveryCount}</MaxDeliveryCount><EnableBatchedOperations>true</EnableBatchedOperations><Status>Active</Status><CreatedAt>${now}</CreatedAt><UpdatedAt>${now}</UpdatedAt><AccessedAt>${now}</AccessedAt><CountDetails xmlns:${counts}="http://schemas.microsoft.com/netservices/2011/06/servicebus"><${counts}:ActiveMessageCount>${messages.length}</${counts}:ActiveMessageCount><${counts}:DeadLetterMessageCount>${deadLetters.length}</${counts}:DeadLetterMessageCount></CountDetails><AutoDeleteOnIdle>${forever}</AutoDeleteOnIdle><EntityAvailabilityStatus>Available</EntityAvailabilityStatus></SubscriptionDescription>`,
  );
}
