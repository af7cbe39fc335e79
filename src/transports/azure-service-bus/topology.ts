import type { ServiceBusClient } from '@azure/service-bus';
import { WhizbangError } from '../../errors.js';
import type { Logger } from '../../logger.js';
import { addressName } from '../wire/address-name.js';
import type { Broker } from './broker.js';
import { denied, isDenied, isMissing, isThereAlready } from './failures.js';
import type { ReplaceableClient } from './replaceable-client.js';

/** A subscription never gives a message up by itself: this is the largest count that the service takes. */
export const endless = 2_147_483_647;
const longestName = 50;
/** The rule that a subscription has unless it is made with another one: it takes the messages of all services. */
const everything = { rule: '$Default', filter: '1=1' };

/** Subscriptions and rules have names of at most 50 characters, and the case of letters does not count. */
export const nameOf = (address: string): string => addressName(address, { max: longestName, caseless: true });

/** Makes the topic, or checks that it is there. */
export async function prepareTopic({ settings, administration, sending }: Broker): Promise<void> {
  const { topic, topology } = settings;
  if (topology === 'off') return;
  if (topology === 'declare') {
    await manage(async () => {
      if (await administration.topicExists(topic)) return;
      await administration.createTopic(topic, { supportOrdering: true }).catch(unlessThere);
    });
    return;
  }
  try {
    await reachTopic(sending, topic);
  } catch (error) {
    throw asSetup(error, `The topic ${topic}`, 'Send', [
      `az servicebus topic create --resource-group <group> --namespace-name <namespace> --name ${topic} --enable-ordering true`,
    ]);
  }
}

/** Asks the broker whether it would take a message now, over a link of its own. */
export async function reachTopic(sending: ReplaceableClient, topic: string): Promise<void> {
  await sending.probe(async (client) => {
    const sender = client.createSender(topic);
    try {
      await sender.createMessageBatch();
    } finally {
      void sender.close().catch(() => {});
    }
  });
}

/** Makes the subscription of a service with a rule for each address, or checks that they are there. */
export async function prepareSubscription(
  broker: Broker,
  service: string,
  addresses: readonly string[],
  logger: Logger,
): Promise<void> {
  const { topology } = broker.settings;
  if (topology === 'off') return;
  if (topology === 'declare') await manage(() => declareSubscription(broker, nameOf(service), logger));
  await broker.receiving.probe((client) => prepareRules(broker, client, nameOf(service), addresses));
}

async function declareSubscription(
  { settings, administration }: Broker,
  name: string,
  logger: Logger,
): Promise<void> {
  const { topic, lockSeconds } = settings;
  if (!(await administration.subscriptionExists(topic, name))) {
    const options = {
      requiresSession: true,
      lockDuration: `PT${lockSeconds}S`,
      maxDeliveryCount: endless,
      // Nothing comes in before there is a rule for it.
      defaultRuleOptions: { name: everything.rule, filter: { sqlExpression: '1=0' } },
    };
    await administration.createSubscription(topic, name, options).catch(unlessThere);
  }
  const found = await administration.getSubscription(topic, name);
  if (!found.requiresSession) throw withoutSessions(topic, name);
  if (found.maxDeliveryCount < endless) {
    await administration.updateSubscription({ ...found, maxDeliveryCount: endless });
    logger.warn(
      { subscription: name, was: found.maxDeliveryCount },
      'The subscription would have given messages up after some deliveries; it does not any more',
    );
  }
  if (!isLasting(found.defaultMessageTimeToLive))
    logger.warn(
      { subscription: name, lifetime: found.defaultMessageTimeToLive },
      'Messages expire in this subscription: raise its default message time to live',
    );
}

/** Whether messages with this lifetime outlive everybody. */
export const isLasting = (lifetime: string): boolean => /^P\d{5,}D/.test(lifetime);

/** Rules are kept over AMQP, which needs the claim Listen only. */
async function prepareRules(
  { settings, receiving }: Broker,
  client: ServiceBusClient,
  name: string,
  addresses: readonly string[],
): Promise<void> {
  const { topic, topology } = settings;
  const rules = client.createRuleManager(topic, name);
  const commands: string[] = [];
  try {
    const present = new Set<string>();
    let takesAll = false;
    for await (const { name: rule, filter } of rules.listRules()) {
      if ('to' in filter && filter.to) present.add(filter.to);
      else if (rule === everything.rule && 'sqlExpression' in filter)
        takesAll = filter.sqlExpression === everything.filter;
    }
    for (const address of addresses.filter((each) => !present.has(each))) {
      if (topology === 'declare') await rules.createRule(nameOf(address), { to: address }).catch(unlessThere);
      else commands.push(ruleCommand(topic, name, address));
      receiving.noteAnswer();
    }
    if (takesAll && topology === 'declare') await rules.deleteRule(everything.rule);
    else if (takesAll) commands.push(withoutDefaultCommand(topic, name));
  } catch (error) {
    throw asSetup(error, `The subscription ${name} of the topic ${topic}`, 'Listen', [
      subscriptionCommand(topic, name),
      withoutDefaultCommand(topic, name),
      ...addresses.map((address) => ruleCommand(topic, name, address)),
    ]);
  }
  if (commands.length > 0) throw wrongRules(topic, name, commands);
}

/** Asks for the rules of the service's subscription: an answer shows that it can be reached. */
export async function reachSubscription({ settings, receiving }: Broker, service: string): Promise<void> {
  await receiving.probe((client) =>
    client.createRuleManager(settings.topic, nameOf(service)).listRules().next(),
  );
}

const at = '--resource-group <group> --namespace-name <namespace>';
const subscriptionCommand = (topic: string, name: string) =>
  `az servicebus topic subscription create ${at} --topic-name ${topic} --name ${name} --enable-session true --max-delivery-count ${endless}`;
export const subscriptionUpdate = (topic: string, name: string, change: string): string =>
  `az servicebus topic subscription update ${at} --topic-name ${topic} --name ${name} ${change}`;
const withoutDefaultCommand = (topic: string, name: string) =>
  `az servicebus topic subscription rule delete ${at} --topic-name ${topic} --subscription-name ${name} --name '$Default'`;
const ruleCommand = (topic: string, name: string, address: string) =>
  `az servicebus topic subscription rule create ${at} --topic-name ${topic} --subscription-name ${name} --name ${nameOf(address)} --filter-type CorrelationFilter --to '${address}'`;

async function manage(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isDenied(error)) throw error;
    const hint =
      "Give the claim Manage or the role Azure Service Bus Data Owner, or make topic and subscription with az and set topology: 'check'.";
    throw denied('to declare topic and subscription', 'the claim Manage', hint, error);
  }
}

function asSetup(error: unknown, what: string, claim: string, commands: readonly string[]): unknown {
  if (isMissing(error)) return missing(what, commands, error);
  if (!isDenied(error)) return error;
  const role = claim === 'Send' ? 'Azure Service Bus Data Sender' : 'Azure Service Bus Data Receiver';
  return denied(
    `access to ${what.charAt(0).toLowerCase()}${what.slice(1)}`,
    `the claim ${claim}`,
    `Check the key. Give the claim ${claim}, or the role ${role}.`,
    error,
  );
}

function missing(what: string, commands: readonly string[], cause?: unknown): WhizbangError {
  return new WhizbangError('INVALID_OPTION', {
    message: `${what} does not exist at Azure Service Bus.`,
    hint: `Set topology: 'declare', or run: ${commands.join(' && ')}`,
    details: { option: 'topology', commands },
    cause,
  });
}

function wrongRules(topic: string, name: string, commands: readonly string[]): WhizbangError {
  return new WhizbangError('INVALID_OPTION', {
    message: `The rules of the subscription ${name} of the topic ${topic} are not those of the addresses that the service listens to.`,
    hint: `Set topology: 'declare', or run: ${commands.join(' && ')}`,
    details: { option: 'topology', commands },
  });
}

/** A subscription that was made by hand without sessions keeps no order. */
export function withoutSessions(topic: string, name: string, cause?: unknown): WhizbangError {
  return new WhizbangError('INVALID_OPTION', {
    message: `The subscription ${name} of the topic ${topic} has no sessions, so it keeps no order.`,
    hint: `Sessions cannot be switched on later. When it is empty, run: az servicebus topic subscription delete ${at} --topic-name ${topic} --name ${name} && ${subscriptionCommand(topic, name)}`,
    details: { option: 'topology' },
    cause,
  });
}

function unlessThere(error: unknown): void {
  if (!isThereAlready(error)) throw error;
}
