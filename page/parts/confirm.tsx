// A question before something is done, as a dialog of the browser: Escape and the focus work by themselves.
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

interface Question {
  readonly title: string;
  readonly text: string;
  readonly yes: string;
  readonly isDestructive: boolean;
  /** Whether a reason can be given, which is kept with what was done. */
  readonly takesReason?: boolean;
}

/** Yes, with the reason that was given; or undefined: no. */
interface Yes {
  readonly reason: string;
}

interface Asked extends Question {
  answer(yes: Yes | undefined): void;
}

const asked = signal<Asked | undefined>(undefined);

export function confirm(question: Question): Promise<Yes | undefined> {
  return new Promise((resolve) => {
    const answer = (yes: Yes | undefined) => {
      asked.value = undefined;
      resolve(yes);
    };
    asked.value = { ...question, answer };
  });
}

export function ConfirmDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const question = asked.value;
  useEffect(() => {
    if (question !== undefined) dialog.current?.showModal();
    else dialog.current?.close();
  }, [question]);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const reason = new FormData(event.currentTarget as HTMLFormElement).get('reason');
    question?.answer({ reason: String(reason ?? '').trim() });
  };
  return (
    <dialog ref={dialog} onClose={() => asked.peek()?.answer(undefined)} aria-labelledby="question">
      {question && (
        <form onSubmit={submit}>
          <h2 id="question">{question.title}</h2>
          <p>{question.text}</p>
          {question.takesReason && (
            <label class="reason">
              Reason, if you like <input name="reason" maxLength={500} autocomplete="off" />
            </label>
          )}
          <div class="buttons">
            <button type="button" onClick={() => question.answer(undefined)}>
              Cancel
            </button>
            <button type="submit" class={question.isDestructive ? 'danger' : 'primary'}>
              {question.yes}
            </button>
          </div>
        </form>
      )}
    </dialog>
  );
}
