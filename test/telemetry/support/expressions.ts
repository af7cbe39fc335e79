// What the shipped dashboard and alert rules ask for, and what an endpoint has.
// In: the files; a text in the format of Prometheus. Out: expressions, the names and labels in them, and the series there are.
import { pageText } from '../../docs/page.js';

export function dashboardExpressions(): string[] {
  const { panels, templating } = JSON.parse(pageText('docs/operate/grafana-dashboard.json')) as {
    panels: { targets: { expr: string }[] }[];
    templating: { list: { definition?: string }[] };
  };
  const chosen = templating.list.flatMap(({ definition }) => definition ?? []);
  const values = chosen.map((text) => /label_values\((\w+), (\w+)\)/.exec(text));
  return [
    ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ...values.map((found) => `count by (${found?.[2]}) (${found?.[1]})`),
  ];
}

export const alertExpressions = (): string[] =>
  [...pageText('docs/operate/prometheus-alerts.yml').matchAll(/^ +expr: (['"])(.*)\1$/gm)].map(
    ([, , expression = '']) => expression,
  );

/** The metrics that an expression reads, each with the labels that it is asked for. */
export function asked(expression: string): { metric: string; labels: string[] }[] {
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = '']) =>
    labels.split(/, */),
  );
  const rest = expression.replaceAll(/\bby \([^)]*\)/g, '');
  return [...rest.matchAll(/\b((?:whizbang|messaging)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, metric = '', inner = '']) => ({
      metric,
      labels: [...grouped, ...[...inner.matchAll(/(\w+)!?=/g)].map(([, label = '']) => label)],
    }),
  );
}

/** The labels of every series, by the name of its metric. */
export function seriesOf(text: string): Map<string, Set<string>[]> {
  const series = new Map<string, Set<string>[]>();
  for (const [, name = '', labels = ''] of text.matchAll(/^(\w+)\{(.*)\} \S+$/gm)) {
    const names = [...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => label);
    series.set(name, [...(series.get(name) ?? []), new Set(names)]);
  }
  return series;
}
