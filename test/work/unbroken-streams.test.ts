import { describe, expect, it } from 'vitest';
import { WorkBatchFlags, type WorkItem } from '../../src/message.js';
import { UnbrokenStreams } from '../../src/work/streams/unbroken-streams.js';

const first = (streamId: string | null) => ({ streamId, flags: WorkBatchFlags.NewlyStored }) as WorkItem;
const behind = (streamId: string) =>
  ({ streamId, flags: WorkBatchFlags.NewlyStored | WorkBatchFlags.Continues }) as WorkItem;

describe('A message that was handed out behind others', () => {
  it('a message behind others may run while none before it has failed', () => {
    const streams = new UnbrokenStreams();
    expect(streams.admits(first('a'))).toBe(true);
    expect(streams.admits(behind('a'))).toBe(true);
    expect(streams.admits(behind('a'))).toBe(true);
  });

  it('a message may not run behind one that did not succeed, until its stream begins anew', () => {
    const streams = new UnbrokenStreams();
    streams.admits(first('a'));
    streams.break(first('a'));
    expect(streams.admits(behind('a'))).toBe(false);
    expect(streams.admits(behind('a'))).toBe(false);
    expect(streams.admits(first('a'))).toBe(true);
    expect(streams.admits(behind('a'))).toBe(true);
  });

  it('a message may not run behind others of a stream that is not known', () => {
    const streams = new UnbrokenStreams();
    streams.admits(first('a'));
    streams.break(first('b'));
    expect(streams.admits(behind('b'))).toBe(false);
    expect(streams.admits(behind('a'))).toBe(true);
  });

  it('a message may not run behind others of a stream that too many have followed', () => {
    const streams = new UnbrokenStreams();
    for (let i = 0; i <= 2_000; i++) streams.admits(first(`stream ${i}`));
    expect(streams.admits(behind('stream 0'))).toBe(false);
    expect(streams.admits(behind('stream 1'))).toBe(true);
  });
});

it('a message without a stream may always run', () => {
  const streams = new UnbrokenStreams();
  streams.break(first(null));
  expect(streams.admits(first(null))).toBe(true);
});
