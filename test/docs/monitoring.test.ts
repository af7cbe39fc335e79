import { describe, expect, it } from 'vitest';
import { metricTable } from '../../src/telemetry/metric-table.js';
import { pageText, sections } from './page.js';

const page = sections(pageText('docs/operate/monitoring.md'));
const bodyOf = (title: string) => page.find(({ heading }) => heading === title)?.body ?? '';

describe('The page of monitoring', () => {
  it('the page of monitoring lists exactly the metrics of the code, with their facts', () => {
    const rows = [...bodyOf('Metrics').matchAll(/^\| `([\w.]+)` \| (\w+) \| `(\S+)` \| (.*?) \| (.*) \|$/gm)];
    expect(
      rows.map(([, name, kind, unit, description, attributes = '']) => ({
        name,
        kind,
        unit,
        description,
        attributes: attributes.replaceAll('`', '').split(', '),
      })),
    ).toEqual(Object.values(metricTable));
  });

  it('the page of monitoring lists exactly the alerts of the file', () => {
    const listed = [...bodyOf('Alerts').matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name);
    const rules = [...pageText('docs/operate/prometheus-alerts.yml').matchAll(/- alert: (\w+)/g)];
    expect(listed).toEqual(rules.map(([, name]) => name));
    expect(listed.length).toBeGreaterThan(5);
  });
});
