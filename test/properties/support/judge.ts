// Judges one call after the fact, by the model. In: what was asked, what came back, what the database holds now.
// Out: the model brought up to date, or an error when a promise is broken. Called by the world.
import { Flags, type WorkRow } from '../../support/work.js';
import type { BatchCall } from './batch-call.js';
import { broken, type Model, type ModelMessage, modelOf } from './model.js';
import type { Snapshot } from './snapshot.js';
import { checkTurns } from './turns.js';

interface Judged {
  readonly items: readonly WorkRow[];
  readonly lost: readonly WorkRow[];
  readonly stored: readonly ModelMessage[];
}

export function judgeCall(
  model: Model,
  snapshot: Snapshot,
  call: BatchCall,
  rows: readonly WorkRow[],
): Judged {
  const lost = rows.filter(({ flags }) => (flags & Flags.LeaseLost) !== 0);
  const items = rows.filter(({ flags }) => (flags & Flags.LeaseLost) === 0);
  for (const lane of ['outbox', 'inbox'] as const) {
    const given = items.filter(({ source }) => source === lane).length;
    if (given > call.room[lane]) broken('the room is exceeded', { call, items });
  }
  const looks = model.heartbeat(call);
  const partitions = model.partitionsOf(call.instanceId, true);
  const reportedOn = call.reports.filter(
    (report) => report.kind !== 'renew' && model.judge(call, report) === 'held',
  );
  const reported = judgeReports(model, call, lost);
  const stored = takeIn(model, snapshot, call);
  // Work of an instance that is removed by this call may be handed out by this call or by the next.
  const freed = looks ? model.removeStale(call) : [];
  const held = model
    .unfinished()
    .filter(
      (message) =>
        model.isHeld(message) ||
        model.mayBeKept(message) ||
        model.locked.has(streamOf(message)) ||
        model.perhapsLocked.has(streamOf(message)),
    );
  const handedOut = items.map((item) => model.handOut(call, item, reported));
  model.checkOrder(call, handedOut);
  checkPartitions(model, call, partitions);
  checkTurns(model, call, { reportedOn, stored, handedOut, held: [...held, ...freed] });
  checkComplete(model, snapshot, call, stored, [...held, ...freed], handedOut);
  return { items, lost, stored };
}

/** Returns the messages whose completion or failure was accepted: this call must not hand them out. */
function judgeReports(model: Model, call: BatchCall, lost: readonly WorkRow[]): Set<ModelMessage> {
  const reported = new Set<ModelMessage>();
  const told = new Set(lost.map(({ source, message_id }) => `${source} ${message_id}`));
  for (const report of call.reports) {
    const verdict = model.judge(call, report);
    const isLost = told.delete(`${report.lane} ${report.id}`);
    if (isLost && verdict === 'held') broken('a holder is told that it lost its lease', report);
    if (!isLost && verdict === 'not held') broken('a report of one that holds nothing was accepted', report);
    const message = model.find(report.lane, report.id);
    if (isLost && verdict === 'expired' && message !== undefined) message.holder = null;
    if (!isLost) model.apply(call, report);
    if (!isLost && report.kind === 'renew') continue;
    const gaveBack = report.kind === 'complete' && report.status === 0;
    if (!isLost && !gaveBack && message !== undefined) reported.add(message);
  }
  if (told.size > 0) broken('leases are reported lost that nobody asked about', [...told]);
  return reported;
}

/** Stored messages enter the model, unless their id is known: in the inbox for ever, in the outbox while unfinished. */
function takeIn(model: Model, snapshot: Snapshot, call: BatchCall): ModelMessage[] {
  const stored: ModelMessage[] = [];
  for (const { lane, message } of call.stores) {
    const known = model.find(lane, message.message_id);
    if (known !== undefined && (lane === 'inbox' || known.fate === 'unfinished')) continue;
    const row = snapshot.messages.find(
      (each) => each.lane === lane && each.message_id === message.message_id,
    );
    if (row === undefined) broken('a stored message is not there', message);
    const dueAt = message.scheduled_for === undefined ? 0 : Date.parse(message.scheduled_for) + model.passed;
    stored.push(modelOf(lane, message, row.sequence_order, dueAt, 'unfinished'));
  }
  for (const message of stored) model.add(message);
  return stored;
}

/**
 * What must be handed out: new messages of clear streams that fit; everything when there is room for all; and where there is room
 * left, the first message of every stream that may be taken, whatever else lies around.
 */
function checkComplete(
  model: Model,
  snapshot: Snapshot,
  call: BatchCall,
  stored: ModelMessage[],
  before: ModelMessage[],
  handedOut: ModelMessage[],
): void {
  if (call.maxPartitions !== null) return;
  const cooling = new Set(call.reports.map(({ lane, id }) => streamOf(model.find(lane, id))));
  const held = new Set(before.map(streamOf));
  const given = new Set(handedOut);
  const appended = new Set(snapshot.events.map(({ event_id }) => event_id));
  const events = model.unfinished().filter(({ isEvent, id }) => isEvent && !appended.has(id));
  const waiting = new Set(events.filter((event) => !stored.includes(event)).map(({ key }) => key));
  const streams = byStream(model.unfinished());
  for (const [stream, messages] of streams) {
    const { lane, key } = messages[0] as ModelMessage;
    if (held.has(stream) || cooling.has(stream)) continue;
    const isNew = messages.every((message) => stored.includes(message));
    const storedHere = call.stores.filter((each) => each.lane === lane).length;
    const fits = isNew && storedHere <= call.room[lane];
    // A new event may wait for an earlier one that came by the other lane and is not appended yet.
    if (fits && messages.some(({ isEvent }) => isEvent) && waiting.has(key)) continue;
    const takesAll = call.takeoverSeconds === 0 && call.room[lane] >= 200;
    const blocked = messages.findIndex(({ dueAt }) => dueAt > model.now);
    const due = blocked === -1 ? messages : messages.slice(0, blocked);
    const hasRoomLeft = handedOut.filter((item) => item.lane === lane).length < call.room[lane];
    const [first] = due;
    if (
      call.takeoverSeconds === 0 &&
      hasRoomLeft &&
      first !== undefined &&
      !given.has(first) &&
      !stored.includes(first) &&
      (!first.isEvent || appended.has(first.id))
    )
      broken('a call has room left and leaves what it may take', { first, handedOut, room: call.room });
    if (!fits && !takesAll) continue;
    const missing = due.filter((message) => !given.has(message));
    if (missing.length > 0)
      broken('work that is due and free is not handed out', { missing, handedOut, isNew });
  }
}

/** A call with a cap takes no partition beyond it; what the instance had above the cap, it may keep and renew. */
function checkPartitions(model: Model, call: BatchCall, before: ReadonlySet<number>): void {
  if (call.maxPartitions === null) return;
  const after = model.partitionsOf(call.instanceId, false);
  if (after.size <= Math.max(before.size, call.maxPartitions)) return;
  broken('the cap on partitions is exceeded', { call, before: [...before], after: [...after] });
}

function streamOf(message: ModelMessage | undefined): string {
  return `${message?.lane} ${message?.key}`;
}

function byStream(messages: readonly ModelMessage[]): Map<string, ModelMessage[]> {
  const streams = new Map<string, ModelMessage[]>();
  for (const message of [...messages].sort((a, b) => a.order - b.order)) {
    const stream = streams.get(streamOf(message));
    if (stream === undefined) streams.set(streamOf(message), [message]);
    else stream.push(message);
  }
  return streams;
}
