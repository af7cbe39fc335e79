// The display of the demo: redrawn in place in a terminal, a line per second elsewhere.
import { paint } from './paint.js';
import type { Progress } from './progress.js';
import type { InstanceState, WarehouseInstance } from './warehouse.js';

export interface View {
  /** Prints a line that stays. */
  say(line: string): void;
  show(progress: Progress, instances: readonly WarehouseInstance[]): void;
  end(): void;
}

export const createView = (out: NodeJS.WriteStream = process.stdout): View =>
  out.isTTY ? terminalView(out) : plainView(out);

function terminalView(out: NodeJS.WriteStream): View {
  const rate = rateOf();
  let drawn = 0;
  let last: string[] = [];
  const clear = () => (drawn > 0 ? `\x1b[${drawn}A\x1b[0J` : '');
  const draw = (above: string) => {
    // A line that wraps would take two rows, and the cursor would return to the wrong place.
    const lines = last.slice(0, Math.max((out.rows || 24) - 1, 1));
    out.write(`${clear()}${above}\x1b[?7l${lines.map((line) => `${line}\n`).join('')}\x1b[?7h`);
    drawn = lines.length;
  };
  return {
    say: (line) => draw(`${line}\n`),
    show: (progress, instances) => {
      last = panel(progress, instances, rate(progress.handled + progress.dead), out.columns || 80);
      draw('');
    },
    end: () => {
      drawn = 0;
      last = [];
    },
  };
}

/** Draws the panel. Narrow terminals get shorter bars and fewer squares, so that no number is cut off. */
function panel(
  progress: Progress,
  instances: readonly WarehouseInstance[],
  perSecond: number,
  columns: number,
): string[] {
  const { expected, stored, delivered, handled, dead } = progress;
  const retries = instances.reduce((sum, instance) => sum + instance.retries, 0);
  const counts = `${expected}`.length * 2 + 22; // beside a bar: its name, value/of, the rate
  const width = Math.min(Math.max(columns - counts, 5), 40);
  const squares = Math.min(Math.max(columns - 50, 0), 12);
  const line = (value: number) => bar(value, expected, width);
  return [
    '',
    `stored     ${line(stored)}`,
    `delivered  ${line(delivered)}`,
    `handled    ${line(handled + dead)}  ${paint('bold', `${perSecond}/s`)}`,
    '',
    paint(
      'dim',
      `instance       state     ${(squares < 8 ? 'held' : 'streams held').padStart(squares + 4)}  handled   retries`,
    ),
    ...instances.map((instance) => {
      const { handled: done = 0, streams = 0 } = progress.instances.get(instance.name) ?? {};
      const state = paint(colours[instance.state], instance.state.padEnd(9));
      return `${instance.name.padEnd(14)} ${state} ${'▪'.repeat(Math.min(streams, squares)).padEnd(squares)} ${String(streams).padStart(3)} ${String(done).padStart(8)} ${String(instance.retries).padStart(9)}`;
    }),
    '',
    `${retries} retries, ${dead} dead letters, ${progress.shipped} orders shipped`,
  ];
}

const colours = {
  starting: 'dim',
  running: 'green',
  killed: 'red',
  stalled: 'yellow',
  back: 'cyan',
  stopped: 'dim',
  ended: 'red',
} as const satisfies Record<InstanceState, Parameters<typeof paint>[0]>;

function bar(value: number, of: number, width: number): string {
  const full = Math.min(Math.round((value / of) * width), width);
  return `${paint('green', '█'.repeat(full))}${paint('dim', '░'.repeat(width - full))} ${value}/${of}`;
}

function plainView(out: NodeJS.WriteStream): View {
  const rate = rateOf();
  let nextAt = 0;
  return {
    say: (line) => out.write(`${line}\n`),
    show: (progress, instances) => {
      if (performance.now() < nextAt) return;
      nextAt = performance.now() + 1000;
      const { expected, stored, delivered, handled, dead } = progress;
      const each = instances.map(
        ({ name, state }) =>
          `${name} ${state} holds ${progress.instances.get(name)?.streams ?? 0}, handled ${progress.instances.get(name)?.handled ?? 0}`,
      );
      out.write(
        `stored ${stored}, delivered ${delivered}, handled ${handled + dead} of ${expected}, ${rate(handled + dead)}/s; ${each.join(', ')}\n`,
      );
    },
    end: () => undefined,
  };
}

/** The rate per second, over about the last two seconds. */
function rateOf(): (count: number) => number {
  const seen: { at: number; count: number }[] = [];
  return (count) => {
    const at = performance.now();
    seen.push({ at, count });
    while (seen.length > 2 && at - (seen[0]?.at ?? at) > 2_500) seen.shift();
    const [first] = seen;
    return first === undefined || at === first.at
      ? 0
      : Math.round(((count - first.count) * 1000) / (at - first.at));
  };
}
