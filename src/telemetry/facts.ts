// What the parts of an instance tell telemetry of. Types only: they know nothing of OpenTelemetry.
import type { WorkItem } from '../message.js';
import type { GaugeKey } from './metric-table.js';

/** A message that was made and will be stored. */
export interface CreatedMessage {
  readonly messageId: string;
  readonly type: string;
  readonly streamId: string | null;
  readonly correlationId: string;
}

/** A receptor, and the message that it handles now, or the messages. */
export interface ProcessedTask {
  readonly item: WorkItem;
  readonly items?: readonly WorkItem[] | undefined;
  readonly envelope: { readonly type: string; readonly correlationId: string };
  readonly receptor: { readonly name: string };
  readonly attempt: number;
}

/** A command whose receptor runs at once, in the process that calls it. */
export interface InvokedCommand {
  readonly envelope: { readonly messageId: string; readonly type: string; readonly correlationId: string };
  readonly receptor: { readonly name: string };
}

/** An event that a perspective applies. */
export interface FollowedEvent {
  readonly event_id: string;
  readonly metadata: unknown;
}

/** What became of a message that was given to a transport. */
export interface SentOutcome {
  readonly kind: string;
  readonly error?: unknown;
}

/** Tells the value of a gauge. */
export type Tell = (key: GaugeKey, value: number, attributes: Readonly<Record<string, string>>) => void;

/** Called when somebody collects the gauges. */
export type Observe = (tell: Tell) => Promise<void>;
