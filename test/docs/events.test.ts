import { describe, expect, it } from 'vitest';
import { pageText } from './page.js';

const page = pageText('docs/reference/events.md');
const source = pageText('src/runtime/events.ts');

/** The names of an interface's members, and what its `[…]` says they carry. */
function membersOf(name: string): string[] {
  const [, body = ''] = new RegExp(`export interface ${name} \\{\\n([\\s\\S]*?)\\n\\}`).exec(source) ?? [];
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+):/gm)].map(([, member = '']) => member);
}

const rowsOf = (heading: string) => {
  const [, section = ''] = page.split(`## ${heading}`);
  const [table = ''] = section.split(/^## /m);
  return [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name = '']) => name);
};

describe('The page of events', () => {
  it('the page of events lists exactly the events that the code has', () => {
    expect(membersOf('WhizbangEvents').length).toBeGreaterThan(3);
    expect(rowsOf('Events').sort()).toEqual(membersOf('WhizbangEvents').sort());
  });

  it('the page of events lists exactly the members of readiness', () => {
    expect(membersOf('Readiness').length).toBeGreaterThan(1);
    expect(rowsOf('Readiness').sort()).toEqual(membersOf('Readiness').sort());
  });

  it('the page of events lists exactly the fields of events about a message', () => {
    const told = [...source.matchAll(/MessageNotice & \{([^}]*)\}/g)].flatMap(([, fields = '']) =>
      [...fields.matchAll(/readonly (\w+)\??:/g)].map(([, field = '']) => field),
    );
    expect(rowsOf('Message fields').sort()).toEqual(
      [...new Set([...membersOf('MessageNotice'), ...told])].sort(),
    );
  });
});
