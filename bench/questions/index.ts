import type { Question } from '../question.js';
import { append } from './append.js';
import { backlog } from './backlog.js';
import { drain } from './drain.js';
import { fullCycle } from './full-cycle.js';
import { idleCall } from './idle-call.js';
import { idleInstance } from './idle-instance.js';
import { instances } from './instances.js';
import { latency } from './latency.js';
import { memory } from './memory.js';
import { oldSnapshot } from './old-snapshot.js';
import { oneMessage } from './one-message.js';
import { operating } from './operating.js';
import { otherWork } from './other-work.js';
import { peers } from './peers.js';
import { perspectives } from './perspectives.js';
import { perspectivesBeside } from './perspectives-beside.js';
import { planStability } from './plan-stability.js';
import { strategies } from './strategies.js';
import { ticks } from './ticks.js';
import { transports } from './transports.js';
import { unheardTelemetry } from './unheard-telemetry.js';
import { waiting } from './waiting.js';
import { watching } from './watching.js';
import { wholeService } from './whole-service.js';

export const questions: readonly Question[] = [
  fullCycle,
  peers,
  oneMessage,
  watching,
  append,
  drain,
  backlog,
  otherWork,
  planStability,
  instances,
  idleCall,
  oldSnapshot,
  latency,
  idleInstance,
  wholeService,
  waiting,
  operating,
  memory,
  strategies,
  ticks,
  perspectives,
  perspectivesBeside,
  transports,
  unheardTelemetry,
];
