// Which stage of an inbox message runs next, and which stages are done when it has run. A message is finished
// when both are. In: the stages that are done, as the message was handed out. Out: the stage, and the bits to
// report. Called by the runners of receptors. It never runs anything.
import { MessageProcessingStatus, type StatusBits } from '../../message.js';

const { ReceptorProcessed, PerspectiveProcessed } = MessageProcessingStatus;

interface Stage {
  readonly runs: 'receptors' | 'nothing';
  /** The bits of what is done when it has run. */
  readonly reports: StatusBits;
}

/**
 * Returns the first stage that is missing. The stage of the perspectives has none of its own: a receptor's task brings
 * the inline models of its event up to date, so both are done together.
 */
export function nextStage(done: StatusBits): Stage {
  return (done & ReceptorProcessed) === 0
    ? { runs: 'receptors', reports: ReceptorProcessed | PerspectiveProcessed }
    : { runs: 'nothing', reports: PerspectiveProcessed };
}
