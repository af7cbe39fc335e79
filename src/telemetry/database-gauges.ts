// The gauges of the whole service: what waits, for how long, who lives. One instance tells them, so that nobody adds them up.
// In: the instance, its pool. Out: values, when somebody collects them. Started and stopped with the workers.
// Which instance it is, the database says: the first of the living ones that have said that they observe.
import { type GaugesRow, readGauges } from '../coordinator/index.js';
import { type ConnectionPool, withPooledClient } from '../database/index.js';
import { names } from './attributes.js';
import type { Tell } from './facts.js';
import type { Telemetry } from './telemetry.js';

interface DatabaseGaugesOptions {
  readonly pool: ConnectionPool;
  /** The schema, quoted. */
  readonly schema: string;
  readonly service: string;
  readonly instanceId: string;
  readonly telemetry: Telemetry;
}

/** Several may collect, each in its own rhythm: the database is asked once in this time. */
const freshMs = 3_000;
/** Whoever collects does not wait longer. */
const answerMs = 2_000;

export class DatabaseGauges {
  readonly #options: DatabaseGaugesOptions;
  #asked: Promise<GaugesRow | null> | undefined;
  #freshUntil = Number.NEGATIVE_INFINITY;

  constructor(options: DatabaseGaugesOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    this.#options.telemetry.observe((tell) => this.#observe(tell));
  }

  async stop(): Promise<void> {
    this.#options.telemetry.observe(undefined);
    await this.#asked;
  }

  async #observe(tell: Tell): Promise<void> {
    if (performance.now() >= this.#freshUntil) {
      this.#freshUntil = performance.now() + freshMs;
      // Without an answer there are no values, which an alert can see.
      this.#asked = this.#ask().catch(() => null);
    }
    const row = (await this.#asked) ?? null;
    if (row !== null) tellAll(row, this.#options.service, tell);
  }

  #ask(): Promise<GaugesRow | null> {
    const { pool, schema, instanceId } = this.#options;
    return withPooledClient(pool, (db) => readGauges(db, schema, instanceId), answerMs);
  }
}

function tellAll({ lanes, instances, perspectives }: GaugesRow, service: string, tell: Tell): void {
  const ofService = { [names.service]: service };
  for (const lane of lanes) {
    const ofLane = { ...ofService, [names.lane]: lane.lane };
    for (const [state, count] of Object.entries(lane.streams)) {
      tell('streams', count, { ...ofLane, [names.state]: state });
    }
    tell('newMessages', lane.new_messages, ofLane);
    tell('age', lane.age_seconds, ofLane);
    tell('leases', lane.leases, ofLane);
    tell('deadLetters', lane.dead_letters, ofLane);
  }
  for (const [state, count] of Object.entries(instances)) {
    tell('instances', count, { ...ofService, [names.state]: state });
  }
  for (const { name, lag_events, lag_seconds, held } of perspectives) {
    const ofPerspective = { ...ofService, [names.perspective]: name };
    tell('perspectiveEvents', lag_events, ofPerspective);
    tell('perspectiveLag', lag_seconds, ofPerspective);
    tell('perspectiveHeld', held, ofPerspective);
  }
}
