import type { ConfirmChannel, Message } from 'amqplib';
import type { Publication } from './amqp-message.js';

/**
 * What the broker said of a message. `returned`: it had no queue for it. `refused`: it could not store it. `lost`: the
 * channel ended first. `none`: nothing in time.
 */
export type Answer = 'confirmed' | 'returned' | 'refused' | 'lost' | 'none';

/** Publishes all of them without a pause, and waits for the answer to each. Never rejects. */
export async function publishAll(
  channel: ConfirmChannel,
  publications: readonly Publication[],
  confirmMs: number,
): Promise<readonly Answer[]> {
  if (publications.length === 0) return [];
  const returned = new Set<unknown>();
  let isClosed = false;
  const onReturn = ({ properties }: Message) => void returned.add(properties.messageId);
  // Before amqplib's own listener, which tells each message that it failed, and not whether by a nack.
  const onClose = () => {
    isClosed = true;
  };
  channel.on('return', onReturn);
  channel.prependListener('close', onClose);
  const answers = publications.map<Answer>(() => 'none');
  let left = publications.length;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, confirmMs);
    const answer = (i: number, said: Answer) => {
      answers[i] = said;
      if (--left > 0) return;
      clearTimeout(timer);
      resolve();
    };
    for (const [i, { exchange, routingKey, content, options }] of publications.entries()) {
      const take = (error: unknown) => {
        if (error) answer(i, isClosed ? 'lost' : 'refused');
        // A return comes before its confirmation.
        else answer(i, returned.has(options.messageId) ? 'returned' : 'confirmed');
      };
      try {
        channel.publish(exchange, routingKey, content, options, take);
      } catch {
        answer(i, 'lost'); // the channel is closed, or closing
      }
    }
  });
  channel.off('return', onReturn);
  channel.off('close', onClose);
  return [...answers];
}
