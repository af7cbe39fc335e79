// Which stage of an inbox message runs next, and which stages are done when it has run. A message is finished
// when both are. In: the stages that are done, as the message was handed out. Out: the stage, and the bits to
// report. Called by the runners of receptors. It never runs anything.
import { MessageProcessingStatus, type StatusBits } from '../../message.js';

const { ReceptorProcessed, PerspectiveProcessed } = MessageProcessingStatus;

interface Stage {
  readonly runs: 'receptors' | 'perspectives' | 'nothing';
  /** The bits of what is done when it has run. */
  readonly reports: StatusBits;
}

/**
 * Returns the first stage that is missing. `hasPerspectives`: whether inline perspectives apply the event.
 * Where there is none, their stage is done as soon as the receptors are.
 */
export function nextStage(done: StatusBits, hasPerspectives = false): Stage {
  const isMissing = (stage: StatusBits) => (done & stage) === 0;
  if (isMissing(ReceptorProcessed)) {
    const reports = hasPerspectives ? ReceptorProcessed : ReceptorProcessed | PerspectiveProcessed;
    return { runs: 'receptors', reports };
  }
  const runsPerspectives = hasPerspectives && isMissing(PerspectiveProcessed);
  return { runs: runsPerspectives ? 'perspectives' : 'nothing', reports: PerspectiveProcessed };
}
