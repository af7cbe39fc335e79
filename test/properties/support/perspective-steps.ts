// What may happen in a schedule of perspectives, and how often. A stream begins with Begun, and may end and begin again;
// events between them come in any way. While a transaction has appended to a stream, nothing else does.
import type { MessageId, NewOutboxMessage, StreamId } from '../../../src/message.js';
import { type EventName, troubles } from './perspective-definitions.js';
import { dueNow, expire, mergeTicks, wantParts } from './perspective-times.js';
import type { PerspectiveWorld, Runner, Work } from './perspective-world.js';
import type { Random } from './random.js';

const weights = {
  append: 8,
  store: 4,
  appendOpen: 2,
  endOpen: 3,
  call: 8,
  run: 14,
  expire: 2,
  due: 3,
  heal: 1,
  kill: 1,
  mergeTicks: 2,
  register: 2,
  wantParts: 2,
  rebuild: 2,
  raise: 1,
  wantOther: 1,
  drop: 1,
  skip: 3,
  retry: 2,
};
type Kind = keyof typeof weights;
type Weights = Readonly<Record<Kind, number>>;

/** Some deeds come often in a schedule and others not at all: so those that hang together meet. */
function emphasized(random: Random): Weights {
  const always: readonly string[] = ['append', 'call', 'run'];
  const factor = (kind: string) => (always.includes(kind) ? 1 : random.pick([0, 1, 1, 4]));
  return Object.fromEntries(
    Object.entries(weights).map(([kind, weight]) => [kind, weight * factor(kind)]),
  ) as Weights;
}

interface Stream {
  readonly id: string;
  hasModel: boolean;
  isOpen: boolean;
  /** Events that were inserted plainly, and are appended by the next call. */
  isPending: boolean;
}

export class PerspectiveSteps {
  readonly #world: PerspectiveWorld;
  readonly #random: Random;
  readonly #streams: Stream[];
  readonly #weights: Weights;
  #events = 0;
  #depth = 0;

  constructor(world: PerspectiveWorld) {
    this.#world = world;
    this.#random = world.random;
    const fresh = () => ({ id: world.random.uuid(), hasModel: false, isOpen: false, isPending: false });
    this.#weights = emphasized(world.random);
    this.#streams = Array.from({ length: 1 + world.random.below(5) }, fresh);
    const chance = world.random.pick([0.2, 0.4, 0.8]);
    world.meanwhile = async () => {
      if (this.#depth < 2 && this.#random.chance(chance)) await this.one();
    };
  }

  async one(): Promise<void> {
    this.#depth++;
    const kind: Kind = this.#random.weighted(this.#weights);
    await this[kind]();
    this.#depth--;
  }

  /** Events of one stream that may follow now, and what is noted when they are committed. */
  #draw(count: number): { stream: Stream; messages: NewOutboxMessage[]; onCommit: () => void } | undefined {
    const free = this.#streams.filter(({ isOpen, isPending }) => !isOpen && !isPending);
    if (free.length === 0) return undefined;
    const stream = this.#random.pick(free);
    let { hasModel } = stream;
    const messages = Array.from({ length: count }, () => {
      const type: EventName = !hasModel ? 'Begun' : this.#random.chance(0.1) ? 'Ended' : 'Added';
      hasModel = type !== 'Ended';
      return this.#event(type, stream);
    });
    const onCommit = () => {
      stream.hasModel = hasModel;
    };
    return { stream, messages, onCommit };
  }

  #event(eventType: EventName, { id }: Stream): NewOutboxMessage {
    const label = String(++this.#events);
    for (const trouble of troubles) if (this.#random.chance(0.04)) this.#world.troubles.add(trouble, label);
    const keys = this.#random.some(['a', 'b', 'c'], 0.4);
    return {
      messageId: this.#random.uuid() as MessageId,
      destination: 'orders',
      eventType,
      eventData: { label, keys },
      streamId: id as StreamId,
      isEvent: true,
    };
  }

  async append(): Promise<void> {
    const drawn = this.#draw(1 + this.#random.below(4));
    if (drawn === undefined) return;
    await this.#world.append(drawn.messages, this.#random.chance(0.5));
    drawn.onCommit();
  }

  /** Through a call, by a plain insert, as received. Only what may come in any order. */
  async store(): Promise<void> {
    const lane = this.#random.chance(0.7) ? 'outbox' : 'inbox';
    const isPlain = this.#random.chance(0.5);
    const stream = this.#streams.find((each) => each.hasModel && !each.isOpen);
    if (stream === undefined) return;
    stream.isPending ||= isPlain;
    await this.#world.store(lane, [this.#event('Added', stream)], isPlain);
  }

  async appendOpen(): Promise<void> {
    const drawn = this.#draw(1 + this.#random.below(3));
    if (drawn === undefined || this.#world.open.length > 2) return;
    const { stream, messages, onCommit } = drawn;
    stream.isOpen = true;
    await this.#world.appendOpen(stream.id, messages, this.#random.chance(0.5), (isCommitted) => {
      stream.isOpen = false;
      if (isCommitted) onCommit();
    });
  }

  async endOpen(): Promise<void> {
    const [transaction] = this.#world.open;
    if (transaction !== undefined) await this.#world.end(transaction, this.#random.chance(0.7));
  }

  async call(): Promise<void> {
    await this.#world.call(this.#random.pick(this.#world.runners), 1 + this.#random.below(5));
    for (const stream of this.#streams) stream.isPending = false;
  }

  async run(): Promise<void> {
    const works = this.#world.runners.flatMap((runner) =>
      runner.works.map((work): [Runner, Work] => [runner, work]),
    );
    if (works.length === 0) return;
    const [runner, work] = this.#random.pick(works);
    await this.#world.run(runner, work, this.#random.chance(0.9), this.#random.chance(0.1));
  }

  async expire(): Promise<void> {
    const { name } = this.#random.pick(this.#world.perspectives);
    await expire(this.#world.db, this.#random.chance(0.5) ? null : name);
  }

  async due(): Promise<void> {
    await dueNow(this.#world.db);
  }

  async heal(): Promise<void> {
    this.#world.troubles.heal();
  }

  async kill(): Promise<void> {
    const idle = this.#world.runners.filter(({ works }) => works.every(({ isRunning }) => !isRunning));
    if (idle.length === 0) return;
    this.#world.kill(this.#random.pick(idle));
    this.#world.join(this.#random.chance(0.3) ? 0 : 60);
  }

  async mergeTicks(): Promise<void> {
    await mergeTicks(this.#world.db);
  }

  async register(): Promise<void> {
    const { perspectives, registered } = this.#world;
    const next = perspectives.find((each) => !registered.includes(each));
    if (next !== undefined) await this.#world.register(next);
  }

  async wantParts(): Promise<void> {
    await wantParts(this.#world.db);
  }

  async rebuild(): Promise<void> {
    const models = this.#world.registered.filter(({ kind }) => kind !== 'custom');
    if (models.length > 0) await this.#world.operators.rebuild(this.#random.pick(models).name);
  }

  async raise(): Promise<void> {
    const { registered } = this.#world;
    if (registered.length > 0) await this.#world.raise(this.#random.pick(registered).name);
  }

  async wantOther(): Promise<void> {
    const { registered } = this.#world;
    if (registered.length > 0) await this.#world.operators.wantOther(this.#random.pick(registered).name);
  }

  async drop(): Promise<void> {
    await this.#world.operators.drop();
  }

  async skip(): Promise<void> {
    await this.#world.operators.skip((build) => this.#world.isInTransaction(build));
  }

  async retry(): Promise<void> {
    await this.#world.operators.retry();
  }
}
