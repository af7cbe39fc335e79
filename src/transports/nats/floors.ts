// How far each service is: its floor, up to which it has stored all messages, and the addresses that it listened to there.
// The last message of a subject per service and shard, in the same stream as the messages it counts: it cannot outlive them, and is lost only
// together with what came after it.
// In: a client, a service, a shard. Out: floors; the stream without what all services have stored.
// Called by receiving. A floor is written behind the messages that it counts, so it always lies above the lowest floor,
// and removing all up to that one removes no floor. It is written only over the one that its writer has read or written
// last: an instance that comes too late cannot put back an older one.
import type { NatsClient } from './client.js';
import type { NatsNames } from './names.js';
import { apiCodeOf, apiCodes } from './nats-errors.js';

export interface Floor {
  readonly floor: number;
  readonly addresses: readonly string[];
}

/** As it is in the stream, with its own place. */
export interface WrittenFloor extends Floor {
  readonly sequence: number;
}

/** The place of a floor. */
export interface FloorPlace {
  readonly client: NatsClient;
  readonly names: NatsNames;
  readonly service: string;
  readonly shard: number;
}

/** In the header of a message that tells the readers of a service to which addresses it listens from there on, too. */
const subscribeHeader = 'Whizbang-Subscribe';

/**
 * The first floor of a service is its own place in the stream. A service that has one keeps it. What it listens to from
 * now on is told by a message to itself, so that its receiver learns of it between the same two messages as every later one.
 */
export async function subscribeService(place: FloorPlace, addresses: readonly string[]): Promise<void> {
  const { client, names, service, shard } = place;
  const written = await readFloor(place);
  if (written === undefined) {
    // Somebody else was faster: the next attempt sees what it has subscribed to.
    if ((await tryToWrite(place, { addresses }, 0)) === undefined)
      throw new Error('Another instance subscribes at this moment.');
    return;
  }
  const missing = addresses.filter((address) => !written.addresses.includes(address));
  if (missing.length === 0) return;
  const headers = client.core.headers();
  headers.set(subscribeHeader, encodeURIComponent(service));
  await client.js.publish(names.message(service, shard), JSON.stringify(missing), { headers });
}

/** The addresses that a message adds to this service. Empty: to another one. Undefined: it is a message as any other. */
export function subscribedBy(
  message: { readonly headers?: { get(name: string): string } | undefined; string(): string },
  service: string,
): readonly string[] | undefined {
  const subscriber = message.headers?.get(subscribeHeader) ?? '';
  if (subscriber === '') return undefined;
  return subscriber === encodeURIComponent(service) ? (JSON.parse(message.string()) as string[]) : [];
}

/** Undefined: the service has not subscribed. */
export async function readFloor({
  client,
  names,
  service,
  shard,
}: FloorPlace): Promise<WrittenFloor | undefined> {
  return floorAt(client, names, names.floor(service, shard));
}

/**
 * Of a service that has subscribed. If its floor is gone, the stream was made anew or emptied, and all that is in it now is
 * for this service.
 */
export async function readOrRestoreFloor(
  place: FloorPlace,
  addresses: readonly string[],
): Promise<WrittenFloor> {
  const written = await readFloor(place);
  if (written !== undefined) return written;
  await tryToWrite(place, { floor: 0, addresses }, 0);
  const restored = await readFloor(place);
  if (restored === undefined) throw new Error('NATS does not find the floor that it has stored.');
  return restored;
}

/** Returns its place. Rejects when somebody else has written one after the place `over`. */
export async function writeFloor(place: FloorPlace, floor: Floor, over: number): Promise<number> {
  const sequence = await tryToWrite(place, floor, over);
  if (sequence === undefined) throw new Error('Another instance has written the floor.');
  return sequence;
}

/** Older ones go when the stream is trimmed. Not by `Nats-Rollup`: with a purge at the same moment, nats-server 2.9.10 no longer finds the new one. */
async function tryToWrite(
  { client, names, service, shard }: FloorPlace,
  floor: Partial<Floor>,
  over: number,
): Promise<number | undefined> {
  const expect = { lastSubjectSequence: over };
  try {
    const subject = names.floor(service, shard);
    return (await client.js.publish(subject, JSON.stringify(floor), { expect })).seq;
  } catch (error) {
    if (apiCodeOf(error) === apiCodes.wrongLastSequence) return undefined;
    throw error;
  }
}

/** Removes what all services have stored. Returns up to where. */
export async function trim(client: NatsClient, names: NatsNames): Promise<number> {
  const { state } = await client.jsm.streams.info(names.stream, { subjects_filter: names.floors });
  const floors = await Promise.all(
    Object.keys(state.subjects ?? {}).map((subject) => floorAt(client, names, subject)),
  );
  const lowest = Math.min(...floors.map((each) => each?.floor ?? 0));
  if (floors.length === 0 || lowest < state.first_seq) return 0;
  await client.jsm.streams.purge(names.stream, { seq: lowest + 1 });
  return lowest;
}

/** Undefined: there is none. */
async function floorAt(
  { jsm }: NatsClient,
  names: NatsNames,
  subject: string,
): Promise<WrittenFloor | undefined> {
  const message = await jsm.streams.getMessage(names.stream, { last_by_subj: subject });
  if (message === null) return undefined;
  const { floor, addresses } = message.json<Partial<Floor>>();
  // The first one is not below itself: what is removed up to the lowest floor would be it.
  return { floor: floor ?? message.seq - 1, addresses: addresses ?? [], sequence: message.seq };
}
