import type { BrokerFinding } from '../transport.js';
import type { Broker } from './broker.js';
import { isDenied, isMissing } from './failures.js';
import { endless, isLasting, nameOf, subscriptionUpdate, withoutSessions } from './topology.js';

/** The settings of a service's subscription under which messages are lost. Needs the claim Manage: without it, it says so. */
export async function examineSubscription(
  { administration, settings: { topic } }: Broker,
  service: string,
): Promise<readonly BrokerFinding[]> {
  const name = nameOf(service);
  const place = `The subscription ${name} of the topic ${topic}`;
  try {
    const found = await administration.getSubscription(topic, name);
    const { deadLetterMessageCount } = await administration.getSubscriptionRuntimeProperties(topic, name);
    const { message, hint } = withoutSessions(topic, name);
    return [
      ...fault(!found.requiresSession, message, hint),
      ...fault(
        found.maxDeliveryCount < endless,
        `${place} gives a message up after ${found.maxDeliveryCount} deliveries, and its stream goes on without it.`,
        subscriptionUpdate(topic, name, `--max-delivery-count ${endless}`),
      ),
      ...fault(
        !isLasting(found.defaultMessageTimeToLive),
        `Messages expire in the subscription ${name} of the topic ${topic} after ${found.defaultMessageTimeToLive}.`,
        subscriptionUpdate(topic, name, '--default-message-time-to-live P10675199D'),
      ),
      ...fault(
        (deadLetterMessageCount ?? 0) > 0,
        `${place} has ${deadLetterMessageCount} in its dead-letter queue: their streams went on without them.`,
        `Look at ${topic}/${name}/$DeadLetterQueue, and send again what is missing.`,
      ),
    ];
  } catch (error) {
    if (isMissing(error)) return [];
    if (!isDenied(error)) throw error;
    const text = `${place} could not be looked at: that needs the claim Manage.`;
    return [{ level: 'warning', text, remedy: 'Give a key with the claim Manage to the doctor.' }];
  }
}

const fault = (isWrong: boolean, text: string, remedy: string): BrokerFinding[] =>
  isWrong ? [{ level: 'fault', text, remedy }] : [];
