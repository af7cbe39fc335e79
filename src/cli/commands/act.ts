// `whizbang retry-now | give-up | release | pause | resume`: what an operator does to a running service.
import { Argument, Command } from 'commander';
import {
  giveUp,
  type PauseTarget,
  pause,
  releaseInstance,
  releaseStream,
  resume,
  retryNow,
} from '../../coordinator/index.js';
import { WhizbangError } from '../../errors.js';
import type { MessageId } from '../../message.js';
import { type ActOptions, act, withActOptions } from '../act.js';
import { streamArgument, uuid } from '../arguments.js';
import { example } from '../with-database.js';

export function retryNowCommand(): Command {
  return withActOptions(new Command('retry-now'))
    .description('Try a message again now that waits for its next attempt or its time.')
    .argument('<message>', 'the id of the message', uuid)
    .addHelpText('after', example('whizbang retry-now 0192f0c1-7d3a-7c53-9f0e-5b0c5d1f2a11'))
    .action((messageId: MessageId, options: ActOptions) =>
      act(options, {
        run: (db, schema, who) => retryNow(db, schema, messageId, who),
        done: `Message ${messageId} is due now.`,
        nothing: `Message ${messageId} does not wait for a time.`,
      }),
    );
}

export function giveUpCommand(): Command {
  return withActOptions(new Command('give-up'))
    .description('Give up a message: it becomes a dead letter, and its stream goes on without it.')
    .argument('<message>', 'the id of the message', uuid)
    .option('--reason <text>', 'why')
    .addHelpText(
      'after',
      example('whizbang give-up 0192f0c1-7d3a-7c53-9f0e-5b0c5d1f2a11 --reason "ticket 4711"'),
    )
    .action((messageId: MessageId, options: ActOptions & { reason?: string }) =>
      act(options, {
        question: `Give up message ${messageId}? Its stream goes on without it.`,
        run: (db, schema, who) => giveUp(db, schema, messageId, options.reason, who),
        done: `Message ${messageId} is a dead letter, and its stream goes on.`,
        nothing: `No lane has message ${messageId}.`,
      }),
    );
}

export function releaseCommand(): Command {
  return withActOptions(new Command('release'))
    .description(
      'End the leases on a stream, or all leases of an instance. What its holder reports later is refused.',
    )
    .addArgument(new Argument('<kind>', 'what to release').choices(['stream', 'instance']))
    .argument('<id>', 'the stream, by its id or the text that it is made from; or the id of the instance')
    .addHelpText('after', example('whizbang release stream order-17 --dry-run'))
    .action((kind: 'stream' | 'instance', id: string, options: ActOptions) => {
      if (kind === 'stream') {
        const streamId = streamArgument(id);
        return act(options, {
          question: `Release stream ${id}? A message that runs may run a second time.`,
          run: (db, schema, who) => releaseStream(db, schema, streamId, who),
          done: `Stream ${id} is released: anybody may take it.`,
          nothing: `Nobody holds stream ${id}.`,
        });
      }
      const instanceId = uuid(id);
      return act(options, {
        question: `Release all streams of instance ${instanceId}? Messages that run may run a second time.`,
        run: (db, schema, who) => releaseInstance(db, schema, instanceId, who),
        done: `The streams of instance ${instanceId} are released: anybody may take them.`,
        nothing: `Instance ${instanceId} holds nothing.`,
      });
    });
}

const pausable = () =>
  new Argument('<kind>', 'what: all messages of a type, a stream, or all that the service handles').choices([
    'type',
    'stream',
    'intake',
  ]);
const pausableName = 'the type; or the stream, by its id or the text that it is made from';

export function pauseCommand(): Command {
  return withActOptions(new Command('pause'))
    .description('Hand out nothing more of a type, of a stream, or of the whole inbox. What arrives waits.')
    .addArgument(pausable())
    .argument('[name]', pausableName)
    .option('--reason <text>', 'why')
    .addHelpText('after', example('whizbang pause type ChargeCard --reason "gateway is down" --yes'))
    .action(
      (kind: PauseTarget['kind'], name: string | undefined, options: ActOptions & { reason?: string }) => {
        const [target, text] = targetOf(kind, name);
        return act(options, {
          question: `Pause ${text}? Nothing of it is handed out until it is resumed.`,
          run: (db, schema, who) => pause(db, schema, target, options.reason, who),
          done: `${capital(text)} is paused.`,
          nothing: `${capital(text)} is paused already.`,
        });
      },
    );
}

export function resumeCommand(): Command {
  return withActOptions(new Command('resume'))
    .description('Resume what was paused.')
    .addArgument(pausable())
    .argument('[name]', pausableName)
    .addHelpText('after', example('whizbang resume type ChargeCard'))
    .action((kind: PauseTarget['kind'], name: string | undefined, options: ActOptions) => {
      const [target, text] = targetOf(kind, name);
      return act(options, {
        run: (db, schema, who) => resume(db, schema, target, who),
        done: `${capital(text)} goes on.`,
        nothing: `${capital(text)} is not paused.`,
      });
    });
}

function targetOf(kind: PauseTarget['kind'], name: string | undefined): [target: PauseTarget, text: string] {
  if (kind === 'intake' ? name !== undefined : name === undefined || name === '') {
    throw new WhizbangError('INVALID_OPTION', {
      message: kind === 'intake' ? 'The intake of a service has no name.' : `It is not said which ${kind}.`,
      hint: 'Give: type NAME, stream NAME, or intake.',
      details: { option: 'name' },
    });
  }
  if (kind === 'intake') return [{ kind }, 'the intake'];
  if (kind === 'type') return [{ kind, name }, `type ${name}`];
  return [{ kind, name: streamArgument(name as string) }, `stream ${name}`];
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
