// The calls of an instance: who makes them, and the line in which they wait for each other.
// In: the options, the parts that a call asks and tells. Out: a coordinator and its line. Called by assemble.
import { setImmediate as turn } from 'node:timers/promises';
import { type WorkBatchRequest, WorkCoordinator } from '../coordinator/index.js';
import type { Database } from '../database/index.js';
import { WorkBatchFlags } from '../message.js';
import type { ResolvedOptions, whizbangOptions } from '../options.js';
import { CallLine, type RoomNow } from '../strategies/index.js';
import type { Telemetry } from '../telemetry/index.js';
import type { WorkGate } from '../work/index.js';
import type { WhizbangOptions } from './whizbang-options.js';

type Settings = ResolvedOptions<typeof whizbangOptions>;

interface CallParts {
  readonly room: () => RoomNow;
  readonly gate: WorkGate;
  readonly telemetry: Telemetry;
}

/**
 * How long a call that was given up may be on its way: the network may
 * deliver it minutes later. After that it waits for two leases at most.
 */
const lostCallMs = 300_000;
/** The shortest time limit of a call: a busy server may take seconds. */
const shortestCallTimeoutSeconds = 5;

export function coordinatorOf<Tx>(
  { service, schema, instanceId, history }: WhizbangOptions<Tx>,
  settings: Settings,
  { forCalls }: Database,
  sendsDirectly: boolean,
): WorkCoordinator {
  return new WorkCoordinator({
    pool: forCalls,
    schema,
    sendsDirectly,
    historyShare: history && (history.share ?? 1),
    instance: instanceId === undefined ? { serviceName: service } : { serviceName: service, instanceId },
    partitionCount: settings.partitionCount,
    maxPartitionsPerInstance: settings.maxPartitionsPerInstance,
    leaseSeconds: settings.leaseSeconds,
    staleThresholdSeconds: settings.staleThresholdSeconds,
    takeoverSeconds: settings.takeoverSeconds,
    // A third of a lease, as for renewals: one call that is never answered must not cost the leases.
    callTimeoutSeconds: Math.max(shortestCallTimeoutSeconds, settings.leaseSeconds / 3),
  });
}

export function lineOf(
  coordinator: WorkCoordinator,
  { room, gate, telemetry }: CallParts,
  leaseSeconds: number,
  request: Pick<WorkBatchRequest, 'inboxHandlers' | 'perspectives'>,
): CallLine {
  return new CallLine({
    coordinator: {
      processWorkBatch: (request) =>
        telemetry.call(request ?? {}, () => coordinator.processWorkBatch(request)),
    },
    room,
    // What is begun now is a part of nobody's trace.
    onBatch: (batch, sentAt) => telemetry.outside(() => gate.take(batch, sentAt)),
    // Reports go with what is sent next: a program that sends in a loop makes half as many calls.
    pause: turn,
    lostLeaseMs: lostCallMs + 3 * leaseSeconds * 1000,
    request: {
      ...request,
      maxPerspectiveItems: 0,
      flags: WorkBatchFlags.LookAgain | WorkBatchFlags.Duplicate,
    },
  });
}
