import type { Channel, Message } from 'amqplib';
import { describe, expect, it } from 'vitest';
import { Acknowledgements } from '../../src/transports/rabbitmq/acknowledgements.js';

/** Writes down what goes to the broker: `3` is the message 3, `..3` all up to it. */
function noting() {
  const written: string[] = [];
  const open = new Set(Array.from({ length: 20 }, (_, i) => i + 1));
  const channel = {
    ack: ({ fields: { deliveryTag } }: Message, allUpTo = false) => {
      // RabbitMQ closes the channel.
      if (!open.has(deliveryTag)) throw new Error(`unknown delivery tag ${deliveryTag}`);
      written.push(`${allUpTo ? '..' : ''}${deliveryTag}`);
      for (const tag of open) if (tag === deliveryTag || (allUpTo && tag < deliveryTag)) open.delete(tag);
    },
  };
  const acknowledgements = new Acknowledgements(channel as unknown as Channel);
  const add = (...tags: number[]) => {
    for (const deliveryTag of tags) acknowledgements.add({ fields: { deliveryTag } } as Message);
  };
  return { written, open, add, acknowledgements };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('Acknowledgements of a RabbitMQ channel', () => {
  it('acknowledgements of one turn are one, of all up to the last', async () => {
    const { written, add } = noting();
    add(1, 2, 3);
    expect(written).toEqual([]);
    await nextTurn();
    add(5, 4);
    await nextTurn();
    expect(written).toEqual(['..3', '..5']);
  });

  it('a message that is not acknowledged is passed by those behind it, and stays open', async () => {
    const { written, open, add } = noting();
    add(1, 3, 5);
    await nextTurn();
    expect(written).toEqual(['..1', '3', '5']);
    expect([...open].slice(0, 3)).toEqual([2, 4, 6]);
  });

  it('a gap that closes is acknowledged by its last message that is still open', async () => {
    const { written, open, add } = noting();
    add(2, 3, 5);
    await nextTurn();
    add(1);
    await nextTurn();
    add(6, 4);
    await nextTurn();
    expect(written).toEqual(['2', '3', '5', '..1', '..6']);
    expect([...open][0]).toBe(7);
  });

  it('random acknowledgements leave open what was not acknowledged, and nothing else', async () => {
    const { open, add } = noting();
    const tags = Array.from({ length: 20 }, (_, i) => i + 1).sort(() => Math.random() - 0.5);
    while (tags.length > 0) {
      add(...tags.splice(0, 1 + Math.floor(Math.random() * 4)));
      await nextTurn();
      expect([...open].sort((a, b) => a - b)).toEqual(tags.toSorted((a, b) => a - b));
    }
  });

  it('a flush writes at once, and a channel that is closed is no error', async () => {
    const { written, add, acknowledgements } = noting();
    add(1);
    acknowledgements.flush();
    expect(written).toEqual(['..1']);
    add(1);
    acknowledgements.flush();
    await nextTurn();
    expect(written).toEqual(['..1']);
  });
});
