// Live updates as server-sent events. In: the sampler. Out: a stream of `sample` events, the first with the points of the past.
import { answer } from './answers.js';
import type { Sample, Sampler } from './sampler.js';

/** Proxies close what is silent for longer. */
const commentMs = 15_000;
/** So many events may wait for a reader. One that does not read is let go: it connects again when it does. */
const mostWaiting = 64;

interface LiveOptions {
  readonly sampler: Sampler;
  readonly schema: string;
  readonly watchesLoad: boolean;
  readonly signal: AbortSignal;
}

export function live({ sampler, schema, watchesLoad, signal }: LiveOptions): Response {
  const encoder = new TextEncoder();
  let end = () => {};
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        const write = (text: string) => {
          if ((controller.desiredSize ?? 0) <= 0) return end();
          controller.enqueue(encoder.encode(text));
        };
        const comment = setInterval(() => write(': still here\n\n'), commentMs);
        comment.unref();
        const take = (sample: Sample) => write(`event: sample\ndata: ${JSON.stringify(sample)}\n\n`);
        const unwatch = sampler.watch({ schema, watchesLoad, take });
        end = () => {
          end = () => {};
          clearInterval(comment);
          unwatch();
          signal.removeEventListener('abort', onAbort);
          try {
            controller.close();
          } catch {} // the reader has closed it
        };
        const onAbort = () => end();
        signal.addEventListener('abort', onAbort);
        write(`retry: 2000\nevent: past\ndata: ${JSON.stringify(sampler.points(schema))}\n\n`);
      },
      cancel: () => end(),
    },
    { highWaterMark: mostWaiting },
  );
  // X-Accel-Buffering: nginx would keep the events back; no-transform: nobody may compress them, which does the same.
  return answer(200, 'text/event-stream; charset=utf-8', body, {
    'cache-control': 'no-store, no-transform',
    'x-accel-buffering': 'no',
  });
}
