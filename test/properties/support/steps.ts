// What can happen in a schedule. In: a kind and a seed. Out: the deed done in the world. A step takes all its choices
// from its own seed, so a schedule stays a schedule when steps are left out of it.
// Called by the schedule. Checks nothing: the world does.
import { type NewMessage, Status } from '../../support/work.js';
import {
  type BatchCall,
  emptyCall,
  passingSeconds,
  type Report,
  retrySeconds,
  type Stored,
} from './batch-call.js';
import { Random } from './random.js';
import type { Item, Worker, World } from './world.js';

const weights = {
  store: 14,
  'plain insert': 13,
  'send to itself': 10,
  'store in an open transaction': 4,
  'end transaction': 7,
  claim: 14,
  'claim all': 6,
  report: 16,
  settle: 8,
  mixed: 14,
  renew: 5,
  crash: 3,
  'late report': 6,
  'lost answer': 5,
  'arrive behind': 6,
  'silent handler': 5,
  join: 2,
  leave: 3,
  'time passes': 9,
} as const;

export type StepKind = keyof typeof weights;
export interface Step {
  readonly kind: StepKind;
  readonly seed: number;
}

export function drawSteps(random: Random, count: number): Step[] {
  return Array.from({ length: count }, () => ({
    kind: random.weighted(weights),
    seed: random.below(2 ** 32),
  }));
}

export async function perform(world: World, step: Step, streams: readonly string[]): Promise<void> {
  const random = new Random(step.seed);
  const worker = world.workers.length > 0 ? random.pick(world.workers) : world.join(random.uuid());
  const call = emptyCall(worker.id, random.pick([0, 2, 100]));
  if (step.kind === 'plain insert') return insertPlain(world, random, streams);
  if (step.kind === 'store in an open transaction') return storeOpen(world, random, streams);
  if (step.kind === 'arrive behind') return arriveBehind(world, random);
  if (step.kind === 'silent handler') return silentHandler(world, random, worker);
  if (step.kind === 'end transaction') return endTransaction(world, random);
  if (step.kind === 'time passes') return world.pass(random.pick(passingSeconds));
  if (step.kind === 'join') return void (world.workers.length < 5 && world.join(random.uuid()));
  if (step.kind === 'leave') return world.leave(worker);
  if (step.kind === 'crash') {
    worker.past.push(...worker.memory);
    worker.memory = [];
    return;
  }
  if (step.kind === 'claim' || step.kind === 'mixed' || step.kind === 'lost answer') claim(random, call);
  if (step.kind === 'claim all')
    Object.assign(call, { room: { outbox: 500, inbox: 500 }, takeoverSeconds: 0 });
  if (step.kind === 'report' || step.kind === 'mixed' || step.kind === 'lost answer')
    report(random, call, random.some(worker.memory, 0.6));
  if (step.kind === 'settle') settle(random, call, random.chance(0.9) ? worker.memory : worker.past);
  if (step.kind === 'late report') report(random, call, random.some(worker.past, 0.4));
  if (step.kind === 'renew') renew(random, call, [...worker.memory, ...random.some(worker.past, 0.1)]);
  if (step.kind === 'store' || step.kind === 'mixed') store(world, random, call, streams);
  if (step.kind === 'settle' && random.chance(0.4)) store(world, random, call, streams);
  if (step.kind === 'send to itself') sendToItself(world, random, call, streams);
  if ((step.kind === 'store' || step.kind === 'send to itself') && random.chance(0.7)) claim(random, call);
  call.keepsCompleted = random.chance(0.1);
  call.continues = random.chance(0.5);
  if (step.kind === 'lost answer') return resend(world, random, worker, call);
  await world.call(worker, call);
}

/** It was done, and nobody learns of it: the same reports go out again, up to three times, each time with room. */
async function resend(world: World, random: Random, worker: Worker, call: BatchCall): Promise<void> {
  for (let lost = 1 + random.below(3); lost > 0; lost--) await world.call(worker, call, true);
  await world.call(worker, call);
}

function claim(random: Random, call: BatchCall): void {
  call.room.outbox = random.pick([0, 1, 2, 5, 50]);
  call.room.inbox = random.pick([0, 1, 2, 5, 50]);
  call.takeoverSeconds = random.pick([0, 0, 5]);
  if (random.chance(0.1)) call.maxPartitions = random.pick([1, 2]);
}

function report(random: Random, call: BatchCall, items: readonly Item[]): void {
  for (const item of unique(items)) call.reports.push(outcome(random, item));
}

/** One message, as the handler of an inbox message does it in its own transaction. */
function settle(random: Random, call: BatchCall, items: readonly Item[]): void {
  if (items.length === 0) return;
  const item = random.pick(items);
  const done = item.lane === 'outbox' ? [Status.Published] : [Status.EventStored, handled];
  call.reports.push({ ...item, kind: 'complete', status: random.pick(done) });
}

const handled = Status.ReceptorProcessed | Status.PerspectiveProcessed;

function outcome(random: Random, item: Item): Report {
  const done = item.lane === 'outbox' ? Status.Published : Status.EventStored;
  const partly = random.pick([Status.ReceptorProcessed, Status.PerspectiveProcessed]);
  const attempt = item.attempts + 1;
  switch (
    random.weighted({ complete: 50, partly: 10, release: 10, later: 10, again: 8, bury: 6, renew: 6 })
  ) {
    case 'complete':
      return { ...item, kind: 'complete', status: done };
    case 'partly':
      return { ...item, kind: 'complete', status: partly };
    case 'release':
      return { ...item, kind: 'complete', status: 0 };
    case 'later':
      return { ...item, kind: 'retry', status: 0, retryAfterSeconds: retrySeconds, attempt };
    case 'again':
      return { ...item, kind: 'retry', status: partly, retryAfterSeconds: -retrySeconds, attempt };
    case 'bury':
      return { ...item, kind: 'bury', status: 0, attempt };
    default:
      return { ...item, kind: 'renew' };
  }
}

function renew(random: Random, call: BatchCall, items: readonly Item[]): void {
  for (const item of unique(random.some(items, 0.8))) call.reports.push({ ...item, kind: 'renew' });
}

function unique(items: readonly Item[]): Item[] {
  return items.filter(
    (item, i) => items.findIndex(({ id, lane }) => id === item.id && lane === item.lane) === i,
  );
}

function store(world: World, random: Random, call: BatchCall, streams: readonly string[]): void {
  for (let left = 1 + random.below(4); left > 0; left--) {
    if (world.sent.length > 0 && random.chance(0.12)) sendAgain(call, random.pick(world.sent));
    else
      call.stores.push({
        lane: random.pick(['outbox', 'inbox']),
        message: newMessage(world, random, streams),
      });
  }
  for (const { message } of call.stores) expectVersion(world, random, call, message);
}

/** It goes to the inbox, unless something of its stream waits in the outbox. */
function sendToItself(world: World, random: Random, call: BatchCall, streams: readonly string[]): void {
  const { messages, streams: rows } = world.snapshot;
  const waits = (key: string) =>
    messages.some(({ lane, stream_key }) => lane === 'outbox' && stream_key === key) ||
    rows.some(({ lane, stream_id }) => lane === 'outbox' && stream_id === key);
  for (let left = 1 + random.below(3); left > 0; left--) {
    const message = newMessage(world, random, streams);
    const lane = waits(message.stream_id ?? message.message_id) ? 'outbox' : 'inbox';
    call.stores.push({ lane, message, isToItself: true });
  }
}

function sendAgain(call: BatchCall, { lane, message }: Stored): void {
  if (call.stores.some((stored) => stored.message.message_id === message.message_id)) return;
  const { expected_version: _, ...again } = message;
  call.stores.push({ lane, message: again });
}

function newMessage(world: World, random: Random, streams: readonly string[]): NewMessage {
  const due = new Date(world.model.clock + random.pick([-retrySeconds, retrySeconds]) * 1000).toISOString();
  return {
    message_id: random.uuid(),
    event_type: 'shop.OrderPlaced',
    event_data: {},
    stream_id: random.chance(0.1) ? null : random.pick(streams),
    is_event: random.chance(0.3),
    ...(random.chance(0.15) && { scheduled_for: due }),
  };
}

/** Right or wrong, where the stream's version is beyond doubt: this is the only event of it that waits to be appended. */
function expectVersion(world: World, random: Random, call: BatchCall, message: NewMessage): void {
  const stream = message.stream_id;
  if (!message.is_event || stream == null || !random.chance(0.4)) return;
  const stored = new Set(world.snapshot.events.map(({ event_id }) => event_id));
  const waiting = world.model
    .unfinished()
    .filter(({ id, key, isEvent }) => key === stream && isEvent && !stored.has(id));
  const sent = call.stores.filter((each) => each.message.is_event && each.message.stream_id === stream);
  if (waiting.length > 0 || sent.length > 1 || stored.has(message.message_id)) return;
  const isWrong = random.chance(0.2);
  message.expected_version = (world.snapshot.versions[stream] ?? 0) + (isWrong ? 1 : 0);
  if (isWrong) call.refusedFor = message.message_id;
}

/** Into streams whose first message has to wait: that changes nothing for anybody. */
async function arriveBehind(world: World, random: Random): Promise<void> {
  const waiting = world.model
    .unfinished()
    .filter(({ dueAt, id, key }) => dueAt > world.model.now && key !== id);
  if (waiting.length === 0) return;
  const { lane, key } = random.pick(waiting);
  await world.insertPlain(lane, plainMessages(random, [key], 0.3), random.chance(0.3));
}

/** A handler settles its message, and its connection falls silent: nobody knows whether it commits or PostgreSQL ends it. */
async function silentHandler(world: World, random: Random, worker: Worker): Promise<void> {
  if (worker.memory.length === 0) return;
  const item = random.pick(worker.memory);
  const [status] = item.lane === 'outbox' ? [Status.Published] : [handled];
  const call = emptyCall(worker.id);
  call.reports.push({ ...item, kind: 'complete', status });
  const other = random.pick(world.workers);
  const meanwhile = emptyCall(other.id);
  claim(random, meanwhile);
  await world.settleSilently(worker, call, random.chance(0.5), () => world.call(other, meanwhile));
}

async function insertPlain(world: World, random: Random, streams: readonly string[]): Promise<void> {
  const messages = plainMessages(random, streams, 0.3);
  await world.insertPlain(random.pick(['outbox', 'inbox']), messages, random.chance(0.5));
}

/** No events: their versions would stay locked, and the events of others would have to wait for them. */
async function storeOpen(world: World, random: Random, streams: readonly string[]): Promise<void> {
  await world.storeOpen(random.pick(['outbox', 'inbox']), random.uuid(), plainMessages(random, streams, 0));
}

function plainMessages(random: Random, streams: readonly string[], events: number): NewMessage[] {
  return Array.from({ length: 1 + random.below(3) }, () => ({
    message_id: random.uuid(),
    event_type: 'shop.OrderPlaced',
    event_data: {},
    stream_id: random.chance(0.1) ? null : random.pick(streams),
    is_event: random.chance(events),
  }));
}

async function endTransaction(world: World, random: Random): Promise<void> {
  if (world.open.length > 0) await world.end(random.pick(world.open), random.chance(0.8));
}
