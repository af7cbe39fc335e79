import { describe, expect, it } from 'vitest';
import { WorkBatchFlags, type WorkItem } from '../../src/message.js';
import { UnbrokenStreams } from '../../src/work/streams/unbroken-streams.js';

const first = (streamId: string | null) => ({ streamId, flags: WorkBatchFlags.NewlyStored }) as WorkItem;
const behind = (streamId: string) =>
  ({ streamId, flags: WorkBatchFlags.NewlyStored | WorkBatchFlags.Continues }) as WorkItem;

describe('A message that was handed out behind others', () => {
  it('may be run when all before it have succeeded so far, or run still', () => {
    const streams = new UnbrokenStreams();
    expect(streams.admits(first('a'))).toBe(true);
    expect(streams.admits(behind('a'))).toBe(true);
    expect(streams.admits(behind('a'))).toBe(true);
  });

  it('may not be run after one that did not succeed, until the stream begins anew', () => {
    const streams = new UnbrokenStreams();
    streams.admits(first('a'));
    streams.break(first('a'));
    expect(streams.admits(behind('a'))).toBe(false);
    expect(streams.admits(behind('a'))).toBe(false);
    expect(streams.admits(first('a'))).toBe(true);
    expect(streams.admits(behind('a'))).toBe(true);
  });

  it('may not be run when nothing is known of its stream', () => {
    const streams = new UnbrokenStreams();
    streams.admits(first('a'));
    streams.break(first('b'));
    expect(streams.admits(behind('b'))).toBe(false);
    expect(streams.admits(behind('a'))).toBe(true);
  });

  it('may not be run when too many other streams have come since', () => {
    const streams = new UnbrokenStreams();
    for (let i = 0; i <= 2_000; i++) streams.admits(first(`stream ${i}`));
    expect(streams.admits(behind('stream 0'))).toBe(false);
    expect(streams.admits(behind('stream 1'))).toBe(true);
  });
});

it('A message without a stream may always be run', () => {
  const streams = new UnbrokenStreams();
  streams.break(first(null));
  expect(streams.admits(first(null))).toBe(true);
});
