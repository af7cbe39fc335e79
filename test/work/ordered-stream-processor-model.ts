// What an OrderedStreamProcessor has to do, written as plainly as can be: arrays that are searched from end to end.
// The property test does the same to both and compares what was started and what was told.

interface ModelStream {
  queue: string[];
  running: { id: string; forgotten: boolean } | undefined;
}

export class ProcessorModel {
  readonly log: string[] = [];
  readonly #limit: number;
  readonly #streams = new Map<string, ModelStream>();
  /** Names of the streams that could start, whose turn is next first. */
  #line: string[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  get heldIds(): string[] {
    return [...this.#streams.values()].flatMap(({ queue, running }) =>
      running && !running.forgotten ? [running.id, ...queue] : queue,
    );
  }

  get runningIds(): string[] {
    return [...this.#streams.values()].flatMap(({ running }) => (running ? [running.id] : []));
  }

  add(ids: readonly string[]): void {
    for (const id of ids) {
      if (this.heldIds.includes(id)) this.log.push(`error ${id}`);
      else this.#stream(id).queue.push(id);
      this.#lineUp(nameOf(id));
    }
    this.#start();
  }

  end(id: string, kind: string): void {
    const stream = this.#stream(id);
    const wasForgotten = stream.running?.forgotten;
    stream.running = undefined;
    if (!wasForgotten) {
      this.log.push(`${kind} ${id}`);
      if (kind !== 'completed' && kind !== 'settled') this.#drop(stream, 0, 'released');
    }
    this.#lineUp(nameOf(id));
    this.#start();
  }

  forget(ids: readonly string[]): void {
    for (const stream of this.#streams.values()) {
      const { queue, running } = stream;
      const first = queue.findIndex((id) => ids.includes(id));
      if (first >= 0) this.#drop(stream, first, 'forgotten');
      if (running && !running.forgotten && ids.includes(running.id)) {
        running.forgotten = true;
        this.log.push(`forgotten ${running.id}`);
        this.#drop(stream, 0, 'released');
      }
    }
    this.#start();
  }

  releaseQueued(): void {
    for (const stream of this.#streams.values()) this.#drop(stream, 0, 'released');
    this.#start();
  }

  #stream(id: string): ModelStream {
    const name = nameOf(id);
    const stream = this.#streams.get(name) ?? { queue: [], running: undefined };
    this.#streams.set(name, stream);
    return stream;
  }

  #drop(stream: ModelStream, from: number, kind: string): void {
    for (const id of stream.queue.splice(from)) this.log.push(`${kind} ${id}`);
    this.#line = this.#line.filter((name) => (this.#streams.get(name)?.queue.length ?? 0) > 0);
  }

  #lineUp(name: string): void {
    const stream = this.#streams.get(name);
    if (!stream || stream.running || stream.queue.length === 0 || this.#line.includes(name)) return;
    this.#line.push(name);
  }

  #start(): void {
    while (this.runningIds.length < this.#limit) {
      const stream = this.#streams.get(this.#line.shift() ?? '');
      const id = stream?.queue.shift();
      if (!stream || id === undefined) return;
      stream.running = { id, forgotten: false };
      this.log.push(`start ${id}`);
    }
  }
}

/** The stream of `a1` is a; `-1` is on its own. */
const nameOf = (id: string): string => (id.startsWith('-') ? id : id.charAt(0));
