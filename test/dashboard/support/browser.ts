// A real Chromium for the tests of the page: the installed one, never a download. Without it they are skipped; in CI they fail.
import { existsSync, mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';

const programs = [
  process.env.CHROMIUM_PATH ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

export const chromiumPath = programs.find((path) => path !== '' && existsSync(path));

const quiet = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const launch = (): Promise<Browser> =>
  chromium.launch({ executablePath: chromiumPath as string, chromiumSandbox: false, args: quiet });

const folder = fileURLToPath(new URL('../../../.scratch/screenshots/', import.meta.url));

/** Kept as output of the run: .scratch/screenshots. */
export async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: `${folder}${name}.png`, fullPage: false });
}
