// States that the tables can be in when somebody asks explain: instances, lanes, streams, messages. In: a seed. Out: rows as JSON, with times as
// seconds ago (less than zero: ahead). Called by the property test of explain, which writes them, asks, and rolls back.
import { Random } from './random.js';

type LaneName = 'outbox' | 'inbox';
type Row = Record<string, unknown>;

interface ExplainState {
  readonly instances: readonly Row[];
  readonly lanes: readonly Row[];
  readonly streams: readonly Row[];
  readonly messages: readonly Row[];
  readonly versions: readonly string[];
}

/** The order numbers from which searches begin, where they do. */
const floor = 40;
/** Mostly nothing is paused; an empty name is the intake. */
const pauses = [...Array.from({ length: 12 }, () => null), ['h1'], ['h2', 'h3'], ['']];
const everything = '9223372036854775807';

export function explainStateOf(seed: number): ExplainState {
  return new StateMaker(new Random(seed)).make();
}

class StateMaker {
  readonly #streams: Row[] = [];
  readonly #messages: Row[] = [];
  readonly #versions: string[] = [];
  #order = 1;
  /** Whether messages have priorities. */
  readonly #isRanked: boolean;
  /** How many streams of a lane may become due at the very moment of the call: their order among each other is nobody's. */
  readonly #ties: Record<LaneName, number> = { outbox: 0, inbox: 0 };

  constructor(private readonly random: Random) {
    this.#isRanked = random.chance(0.4);
  }

  make(): ExplainState {
    const { random } = this;
    const ids = Array.from({ length: 1 + random.below(4) }, () => random.uuid());
    const silent = random.chance(0.15) ? random.below(ids.length) : -1;
    const hasFloors = random.chance(0.3);
    for (const lane of ['outbox', 'inbox'] as const) {
      if (random.chance(lane === 'inbox' ? 0.95 : 0.6))
        for (let count = 1 + random.below(5); count > 0; count--)
          this.#stream(lane, ids, ids[silent], hasFloors);
    }
    return {
      instances: ids.map((id, i) => this.#instance(id, i === silent)),
      lanes: (['outbox', 'inbox'] as const).map((lane) => ({
        lane,
        admitted_below: hasFloors ? floor : 0,
        free_from_ago: hasFloors ? 1_800 : null,
        paused: lane === 'inbox' ? random.pick(pauses) : null,
      })),
      streams: this.#streams,
      messages: this.#messages,
      versions: this.#versions,
    };
  }

  #instance(instance_id: string, isSilent: boolean): Row {
    const { random } = this;
    const isTied = this.#ties.outbox > 1 || this.#ties.inbox > 1;
    const room = () => random.pick(isTied ? [0, 1_000, 1_000] : [0, 1, 1, 2, 3, 10, 1_000]);
    const spare = () => random.pick(isTied ? [0, 100] : [0, 0, 1, 2, 100]);
    const handlers = random.pick([null, ['h1', 'h2', 'h3'], ['h1', 'h2'], ['h1'], []]);
    return {
      instance_id,
      heartbeat_ago: isSilent ? 100 : random.below(20),
      stale_threshold_seconds: random.pick([30, 30, 60]),
      takes_outbox: random.chance(0.9),
      takes_inbox: random.chance(0.9),
      outbox_room: room(),
      inbox_room: room(),
      outbox_spare: spare(),
      inbox_spare: spare(),
      max_partitions: isTied ? null : random.pick([null, null, null, null, 1, 2]),
      takeover_seconds: random.pick([0, 5, 5, 60]),
      inbox_handlers: handlers,
      inbox_limits: isTied || handlers === null ? null : this.#limits(handlers),
    };
  }

  /** A limited handler is not among the handlers. */
  #limits(handlers: readonly string[]): Record<string, number> | null {
    const drawn = this.random.pick([null, { h3: 1 }, { h3: 2, h2: 0 }, { 'h3\u001fk': 1, h2: 1 }]);
    const kept = Object.entries(drawn ?? {}).filter(([name]) => !handlers.includes(name.slice(0, 2)));
    return drawn && Object.fromEntries(kept);
  }

  #stream(lane: LaneName, ids: readonly string[], silent: string | undefined, hasFloors: boolean): void {
    const { random } = this;
    const stream_id = random.uuid();
    const first = this.#order;
    const kind = random.weighted({
      new: 3,
      due: 6,
      held: 3,
      expired: 2,
      blocked: 4,
      waiting: lane === 'inbox' ? 3 : 0,
    });
    const count = random.pick([0, 1, 1, 1, 2, 3, 4]);
    const isEvents = random.chance(0.25);
    if (isEvents && random.chance(0.7)) this.#versions.push(stream_id);
    const made = Array.from({ length: kind === 'new' ? Math.max(count, 1) : count }, () =>
      this.#message(lane, stream_id, kind === 'new' || random.chance(0.15), isEvents),
    );
    const isLate = made.some(({ is_admitted }) => is_admitted !== true);
    if (kind === 'new' || isLate) this.#ties[lane] += 1;
    if (kind === 'new') {
      this.#messages.push(...made);
      return;
    }
    const holder = random.pick(ids);
    const isHeld = kind === 'held' || kind === 'expired';
    if (isHeld && holder === silent) this.#ties[lane] += 1;
    // Each waits for another time, so that their order is known.
    const ago =
      random.pick(hasFloors && random.chance(0.3) ? [3_600] : [1, 8, 20, 100]) + this.#streams.length / 100;
    const lease = kind === 'held' ? -60 : ago;
    if (isHeld)
      for (const each of made.slice(0, 1 + random.below(2)))
        Object.assign(each, { instance_id: holder, lease_ago: lease });
    this.#messages.push(...made);
    const admitted = made.find(({ is_admitted }) => is_admitted === true);
    const isBlocked = kind === 'blocked';
    this.#streams.push({
      stream_id,
      lane,
      instance_id: isHeld ? holder : null,
      lease_ago: isHeld ? lease : null,
      available_ago: isBlocked && random.chance(0.6) ? -300 - this.#streams.length : ago,
      head: (admitted?.sequence_order as number | undefined) ?? first,
      held_through: isHeld ? everything : 0,
      waits_for: kind === 'waiting' ? ((made[0]?.waits_at ?? made[0]?.target ?? 'h4') as string) : null,
      is_blocked: isBlocked,
      priority: (admitted?.priority as number | undefined) ?? null,
    });
  }

  #message(lane: LaneName, stream_id: string, isNew: boolean, isEvents: boolean): Row {
    const { random } = this;
    this.#order += 1 + random.below(9);
    const is_event = isEvents && random.chance(0.6);
    const target = random.pick(['h1', 'h1', 'h1', 'h2', 'h3', 'h4']);
    return {
      lane,
      message_id: random.uuid(),
      stream_id,
      target,
      is_event,
      is_admitted: !isNew,
      status: is_event && (!isNew || random.chance(0.05)) && random.chance(0.9) ? 3 : 1,
      sequence_order: this.#order,
      scheduled_ago: random.pick([null, null, null, null, null, 30, -300]),
      processed_ago: random.chance(0.05) ? 10 : null,
      priority: this.#isRanked ? random.pick([null, null, 1, 5, -3]) : null,
      waits_at: lane === 'inbox' && target === 'h3' && random.chance(0.3) ? 'h3\u001fk' : null,
    };
  }
}
