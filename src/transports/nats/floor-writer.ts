import { type Floor, type FloorPlace, type WrittenFloor, writeFloor } from './floors.js';

interface FloorWriterOptions extends FloorPlace {
  /** As it was read. */
  readonly written: WrittenFloor;
  /** The floor as it is. */
  readonly current: () => Floor;
  readonly onError: (error: Error) => void;
}

/** Between two writes. */
const soonMs = 50;
/** The same when all that was read is for others. */
const lateMs = 1_000;

/** Tells NATS how far the service is: not each step, and one write at a time. */
export class FloorWriter {
  readonly #options: FloorWriterOptions;
  #written: WrittenFloor;
  #writing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: FloorWriterOptions) {
    this.#options = options;
    this.#written = options.written;
  }

  /** The floor may have moved. */
  moved(isUrgent: boolean): void {
    if (this.#isClosed || this.#writing !== undefined || !this.#hasMoved) return;
    if (this.#timer !== undefined && !isUrgent) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#begin(), isUrgent ? soonMs : lateMs);
  }

  /** Writes what is left. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#writing;
    await this.#write().catch(() => {});
  }

  #begin(): void {
    this.#timer = undefined;
    this.#writing = this.#write()
      .catch(this.#options.onError)
      .finally(() => {
        this.#writing = undefined;
        this.moved(true);
      });
  }

  get #hasMoved(): boolean {
    return this.#options.current().floor !== this.#written.floor;
  }

  async #write(): Promise<void> {
    if (!this.#hasMoved) return;
    const { floor, addresses } = this.#options.current();
    const sequence = await writeFloor(this.#options, { floor, addresses }, this.#written.sequence);
    this.#written = { floor, addresses, sequence };
  }
}
