/** A piece of HTML. Made by `html`, which escapes all values that are not HTML themselves. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Value = string | number | Html | readonly Html[];

export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(parts.reduce((before, part, i) => before + textOf(values[i - 1] ?? '') + part));
}

function textOf(value: Value): string {
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(textOf).join('\n');
  return String(value).replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
