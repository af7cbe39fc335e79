import type { MessageId } from '../message.js';
import type { MessageDefinition } from '../messages/index.js';
import type { Receptor } from '../receptors/index.js';

/** The place of an accident: the receptors of one kind of message, or one receptor. */
export type Target<Tx> = MessageDefinition | Receptor<Tx>;

/** A run that is held: its handler, or its `onGivenUp`, has returned, and nothing of it is committed or reported. */
export interface HeldRun {
  readonly messageId: MessageId;
  goOn(): void;
  fail(error: Error): void;
}

/**
 * Holds one run of a receptor at the worst moment: the handler is done, and nothing is committed or reported.
 */
export class HoldingPoint<Tx> {
  #armed: { readonly target: Target<Tx>; readonly hold: (run: HeldRun) => void } | undefined;

  /** Holds the next run of the target that succeeds. */
  arm(target: Target<Tx>): { readonly held: Promise<HeldRun>; readonly disarm: () => void } {
    const held = new Promise<HeldRun>((hold) => {
      this.#armed = { target, hold };
    });
    return {
      held,
      disarm: () => {
        this.#armed = undefined;
      },
    };
  }

  /** Returns the same receptor in a form that can be held. */
  in(receptor: Receptor<Tx>): Receptor<Tx> {
    const givenUp = receptor.onGivenUp?.bind(receptor);
    return Object.freeze({
      ...receptor,
      ...(givenUp !== undefined && {
        onGivenUp: async (...args: Parameters<typeof givenUp>) => {
          const returned = await givenUp(...args);
          await this.#pass(receptor, args[1].envelope.messageId);
          return returned;
        },
      }),
      handle: async (payload: unknown, context: Parameters<Receptor<Tx>['handle']>[1]) => {
        const returned = await receptor.handle(payload, context);
        await this.#pass(receptor, context.envelope.messageId);
        return returned;
      },
    });
  }

  async #pass(receptor: Receptor<Tx>, messageId: MessageId): Promise<void> {
    const armed = this.#armed;
    if (armed === undefined || (armed.target !== receptor && armed.target !== receptor.definition)) return;
    this.#armed = undefined;
    await new Promise<void>((goOn, fail) => armed.hold({ messageId, goOn, fail }));
  }
}
