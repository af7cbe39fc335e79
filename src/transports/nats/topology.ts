// The stream in which all messages are: made, or checked, at each connect.
// In: a client, settings. Out: nothing, or an error that names each setting that would lose messages, and the command.
// Called by the link. It never changes a stream that there is: that is for people.
import type { NatsClient } from './client.js';
import type { NatsNames } from './names.js';
import { apiCodeOf, apiCodes, jetStreamFailed, refusedBy } from './nats-errors.js';
import type { NatsSettings } from './nats-options.js';

type StreamConfig = Awaited<ReturnType<NatsClient['jsm']['streams']['info']>>['config'];

/** How long NATS knows the ids of messages. It spares duplicates after a lost answer; nothing relies on it. */
const duplicateWindowNs = 120 * 1_000_000_000;

export async function ensureStream(
  client: NatsClient,
  names: NatsNames,
  settings: NatsSettings,
): Promise<void> {
  if (settings.topology === 'off') return;
  const { jsm } = client;
  try {
    const config = await configOf(client, names.stream);
    if (config !== undefined) return checkStream(config, names, settings);
    if (settings.topology === 'check') await jsm.streams.info(names.stream);
    await jsm.streams.add(declaration(names, settings));
  } catch (error) {
    // Another instance may have made it at the same moment.
    if (apiCodeOf(error) === apiCodes.nameInUse) return ensureStream(client, names, settings);
    throw jetStreamFailed(client, names.stream, error);
  }
}

async function configOf({ jsm }: NatsClient, stream: string): Promise<StreamConfig | undefined> {
  try {
    return (await jsm.streams.info(stream)).config;
  } catch (error) {
    if (apiCodeOf(error) === apiCodes.streamNotFound) return undefined;
    throw error;
  }
}

function declaration(names: NatsNames, { replicas }: NatsSettings) {
  return {
    name: names.stream,
    description: `Messages of whizbang, ${names.shards} shards`,
    subjects: [...names.subjects],
    retention: 'limits' as const,
    storage: 'file' as const,
    discard: 'new' as const,
    num_replicas: replicas,
    max_msgs: -1,
    max_bytes: -1,
    max_age: 0,
    max_msgs_per_subject: -1,
    max_msg_size: -1,
    max_consumers: -1,
    duplicate_window: duplicateWindowNs,
    deny_purge: false,
  };
}

/** What each setting has to be, as the command spells it. */
const needed: readonly {
  readonly setting: keyof StreamConfig;
  readonly is: (value: never) => boolean;
  readonly flag: string;
  readonly why: string;
}[] = [
  {
    setting: 'retention',
    is: (value) => value === 'limits',
    flag: '--retention=limits',
    why: 'other policies remove what a service still needs',
  },
  {
    setting: 'storage',
    is: (value) => value === 'file',
    flag: '--storage=file',
    why: 'messages in memory are lost with the server',
  },
  { setting: 'max_age', is: isOff, flag: '--max-age=0', why: 'messages would expire' },
  { setting: 'max_msgs', is: isOff, flag: '--max-msgs=-1', why: 'messages would be dropped or refused' },
  { setting: 'max_bytes', is: isOff, flag: '--max-bytes=-1', why: 'messages would be dropped or refused' },
  {
    setting: 'max_msgs_per_subject',
    is: isOff,
    flag: '--max-msgs-per-subject=-1',
    why: 'messages would be dropped',
  },
  { setting: 'max_msg_size', is: isOff, flag: '--max-msg-size=-1', why: 'messages would be refused' },
  { setting: 'max_consumers', is: isOff, flag: '--max-consumers=-1', why: 'services would be refused' },
  {
    setting: 'deny_purge',
    is: (value) => !value,
    flag: '--no-deny-purge',
    why: 'what all have read is removed',
  },
  { setting: 'no_ack', is: (value) => !value, flag: '--ack', why: 'sending waits for the confirmation' },
  { setting: 'sealed', is: (value) => !value, flag: 'a new stream', why: 'nothing can be sent' },
  { setting: 'mirror', is: (value) => !value, flag: 'a new stream', why: 'nothing can be sent to a mirror' },
];

function isOff(value: unknown): boolean {
  return value === undefined || (value as number) <= 0;
}

function checkStream(config: StreamConfig, names: NatsNames, { replicas }: NatsSettings): void {
  const wrong = needed.filter(({ setting, is }) => !is(config[setting] as never));
  const [first] = wrong;
  if (first !== undefined) {
    const settings = wrong.map(
      ({ setting, why }) => `${setting} is ${JSON.stringify(config[setting])} (${why})`,
    );
    throw refusedBy(
      'topology',
      `The stream ${names.stream} at NATS has settings under which messages are lost: ${settings.join('; ')}.`,
      `Run \`nats stream edit ${names.stream} ${wrong.map(({ flag }) => flag).join(' ')}\`, or make it anew when it is empty: see docs/transports/nats.md#the-stream.`,
      { details: { settings: wrong.map(({ setting }) => setting) } },
    );
  }
  const there = config.subjects ?? [];
  if (there.toSorted().join(' ') !== names.subjects.toSorted().join(' ')) {
    const shards = there.filter(
      (subject) => /\.\*\.\d+$/.test(subject) && !subject.includes('.floor.'),
    ).length;
    throw refusedBy(
      'shards',
      `The stream ${names.stream} at NATS has the subjects ${there.join(', ')} and not ${names.subjects.join(', ')}.`,
      shards === names.shards
        ? 'Give the option prefix another value.'
        : `Set shards to ${shards}, as all other services have it, or change it for all: see docs/transports/nats.md#changing-the-shards.`,
      { details: { shards } },
    );
  }
  if (config.num_replicas < replicas) {
    throw refusedBy(
      'replicas',
      `The stream ${names.stream} is kept on ${config.num_replicas} servers, and replicas asks for ${replicas}.`,
      `Run \`nats stream edit ${names.stream} --replicas=${replicas}\`, or lower the option.`,
    );
  }
}
