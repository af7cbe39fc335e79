import { styleText } from 'node:util';

/** Colours text in a terminal, unless NO_COLOR is set. */
export function paint(style: Parameters<typeof styleText>[0], text: string): string {
  return process.stdout.isTTY && !process.env.NO_COLOR ? styleText(style, text) : text;
}
