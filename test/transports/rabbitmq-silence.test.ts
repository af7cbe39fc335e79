// A broker that leaves questions without an answer, as RabbitMQ does with channels that were opened while it was starting.
import { EventEmitter } from 'node:events';
import type { Channel, ChannelModel } from 'amqplib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { KeptChannel } from '../../src/transports/rabbitmq/kept-channel.js';
import { Link } from '../../src/transports/rabbitmq/link.js';

/** A connection that ends when its socket is dropped. Whether it answers is said by `answers`. */
function fakeModel(answers: boolean) {
  const model = Object.assign(new EventEmitter(), {
    connection: { stream: { destroy: (error?: Error) => void model.emit('close', error) } },
    createChannel: () =>
      answers
        ? Promise.resolve(fakeChannel() as unknown as Channel)
        : new Promise<Channel>((_, reject) => void model.once('close', reject)),
    close: async () => void model.emit('close'),
  });
  return model;
}

const fakeChannel = () => Object.assign(new EventEmitter(), { close: () => new Promise<void>(() => {}) });

/** A channel over connections of which the first answers nothing. */
function keep(closing: AbortController) {
  const models = [fakeModel(false), fakeModel(true)];
  const opened: EventEmitter[] = [];
  const { signal } = closing;
  const link = new Link({
    open: async () => {
      const model = models[opened.length] ?? fakeModel(true);
      opened.push(model);
      return model as unknown as ChannelModel;
    },
    onChange: () => {},
    signal,
  });
  const channel = new KeptChannel({
    link,
    create: (model) => model.createChannel(),
    setUp: async () => {},
    explain: (error) => error as Error,
    explainEnd: () => undefined,
    onChange: () => {},
    signal,
  });
  return { opened, channel };
}

function endOf(model: EventEmitter | undefined): () => boolean {
  let isEnded = false;
  model?.once('close', () => {
    isEnded = true;
  });
  return () => isEnded;
}

/** Its pauses are real. */
const untilOpen = (channel: KeptChannel<Channel>) =>
  vi.waitFor(() => expect(channel.current).toBeDefined(), 60_000);

describe('RabbitMQ: questions without an answer', () => {
  const closing = { current: new AbortController() };
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
    closing.current = new AbortController();
  });
  afterEach(() => {
    closing.current.abort();
    vi.useRealTimers();
  });

  it('a connection on which no channel opens is given up after 15 seconds, and the next one is used', async () => {
    const { opened, channel } = keep(closing.current);

    await vi.advanceTimersByTimeAsync(1_000);
    const isEnded = endOf(opened[0]);
    await vi.advanceTimersByTimeAsync(13_000);
    expect(isEnded()).toBe(false);
    await vi.advanceTimersByTimeAsync(2_000);

    await untilOpen(channel);
    expect(opened).toHaveLength(2);
  });

  it('a connection that the broker has blocked is waited for', async () => {
    const { opened, channel } = keep(closing.current);
    await vi.advanceTimersByTimeAsync(1_000);
    const isEnded = endOf(opened[0]);
    opened[0]?.emit('blocked', 'low on memory');

    await vi.advanceTimersByTimeAsync(120_000);
    expect(isEnded()).toBe(false);
    opened[0]?.emit('unblocked');
    await vi.advanceTimersByTimeAsync(20_000);

    await untilOpen(channel);
    expect(opened).toHaveLength(2);
  });

  it('closing a channel without an answer takes 5 seconds at most, and its connection is given up', async () => {
    const { opened, channel } = keep(closing.current);
    await vi.advanceTimersByTimeAsync(20_000);
    await untilOpen(channel);
    const isEnded = endOf(opened[1]);

    const reopening = channel.reopen();
    await vi.advanceTimersByTimeAsync(6_000);
    await reopening;

    expect(isEnded()).toBe(true);
  });
});
