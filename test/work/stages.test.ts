import { describe, expect, it } from 'vitest';
import { MessageProcessingStatus as Status } from '../../src/message.js';
import { nextStage } from '../../src/work/handle/stages.js';

const { Stored, ReceptorProcessed, PerspectiveProcessed, Failed } = Status;
const both = ReceptorProcessed | PerspectiveProcessed;

describe('The next stage of an inbox message', () => {
  it.each([
    ['the receptors of a message are its next stage', Stored, { runs: 'receptors', reports: both }],
    [
      'the receptors of a message run again after a failure',
      Stored | Failed,
      { runs: 'receptors', reports: both },
    ],
    [
      'the receptors of a message run, though its perspectives are done',
      Stored | PerspectiveProcessed,
      { runs: 'receptors', reports: both },
    ],
    [
      'a message is only reported when both of its stages are done',
      Stored | both,
      { runs: 'nothing', reports: PerspectiveProcessed },
    ],
    [
      'a message whose receptors are done only has to be reported',
      Stored | ReceptorProcessed,
      { runs: 'nothing', reports: PerspectiveProcessed },
    ],
  ])('%s, by the stages that are done', (_, status, stage) => {
    expect(nextStage(status)).toEqual(stage);
  });
});
