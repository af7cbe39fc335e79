import { expect, it } from 'vitest';
import { settingsOf } from '../../src/transports/azure-service-bus/options.js';
import { codeBlocks, pageText, sections } from './page.js';
import { complaintsAbout } from './program.js';

const page = pageText('docs/transports/azure-service-bus.md');

it('the code of the page of the Azure Service Bus transport compiles', () => {
  expect(complaintsAbout({ azure: codeBlocks(page, 'ts').join('\n') })).toEqual([]);
});

it('the page of the Azure Service Bus transport names every option and its default', () => {
  const table = sections(page).find(({ heading }) => heading === 'Options')?.body ?? '';
  const connectionString = 'Endpoint=sb://x;SharedAccessKeyName=n;SharedAccessKey=k';
  for (const [option, value] of Object.entries(settingsOf({ connectionString }))) {
    const row = table.split('\n').find((line) => line.split('|')[1]?.includes(`\`${option}\``));
    expect(row, option).toBeDefined();
    const isPlain = value !== undefined && option !== 'connectionString' && option !== 'concurrentSessions';
    if (isPlain) expect(row?.split('|')[2], option).toContain(String(value));
  }
});
