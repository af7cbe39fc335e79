// A chart over time. In: times and series. Out: a canvas that follows its width and the theme, and its newest values as text.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { theme } from '../state/theme.js';

interface Series {
  readonly name: string;
  /** The name of a colour of the style sheet. */
  readonly colour: string;
  readonly values: readonly number[];
}

interface ChartProps {
  readonly title: string;
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly format: (value: number) => string;
}

const height = 150;
/** So much is always on the axes: a chart that has just begun, or has nothing to show, does not look like much. */
const leastSeconds = 60;
const leastTop = 4;

export function Chart({ title, times, series, format }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const chosen = theme.value;
  const data = [times, ...series.map(({ values }) => values)] as unknown as uPlot.AlignedData;
  const names = series.map(({ name, colour }) => `${name} ${colour}`).join();

  useEffect(() => {
    const element = place.current as HTMLDivElement;
    const colourOf = (name: string) => resolved(element, name);
    const axis = {
      stroke: colourOf('--muted'),
      grid: { stroke: colourOf('--line'), width: 1 },
      ticks: { show: false },
    };
    const make = () => {
      plot.current?.destroy();
      plot.current = new uPlot(
        {
          width: Math.max(element.clientWidth, 100),
          height,
          padding: [8, 28, 0, 0],
          legend: { show: false },
          cursor: { y: false, drag: { x: false, y: false } },
          scales: {
            x: { range: (_, from, to) => [Math.min(from, to - leastSeconds), to] },
            y: { range: (_, __, most) => [0, Math.max(most * 1.1, leastTop)] },
          },
          axes: [
            { ...axis, size: 28, space: 80, values: (_, ticks) => ticks.map(clock) },
            { ...axis, size: 56, values: (_, ticks) => ticks.map(format) },
          ],
          series: [
            {},
            ...series.map(({ name, colour }) => ({
              label: name,
              stroke: colourOf(colour),
              width: 2,
              points: { show: false },
            })),
          ],
        },
        data,
        element,
      );
    };
    make();
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', make);
    const resized = new ResizeObserver(() =>
      plot.current?.setSize({ width: Math.max(element.clientWidth, 100), height }),
    );
    resized.observe(element);
    return () => {
      dark.removeEventListener('change', make);
      resized.disconnect();
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [chosen, names]);

  useEffect(() => plot.current?.setData(data), [data]);

  return (
    <figure class="chart">
      <figcaption>
        <strong>{title}</strong>
        <span class="legend">
          {series.map(({ name, colour, values }) => (
            <span key={name}>
              <i class={`swatch ${colour.slice(2)}`} aria-hidden="true" />
              {name} <b>{format(values.at(-1) ?? 0)}</b>
            </span>
          ))}
        </span>
      </figcaption>
      <div ref={place} role="img" aria-label={`${title} over time`} />
    </figure>
  );
}

const clock = (seconds: number) => new Date(seconds * 1000).toLocaleTimeString('en-GB');

/** A canvas needs the colour itself, not its name. */
function resolved(element: HTMLElement, name: string): string {
  element.style.color = `var(${name})`;
  const { color } = getComputedStyle(element);
  element.style.color = '';
  return color;
}
