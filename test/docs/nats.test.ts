import { expect, it } from 'vitest';
import { codeBlocks, pageText } from './page.js';
import { complaintsAbout } from './program.js';

it('the code of the page of the NATS transport compiles', () => {
  const program = codeBlocks(pageText('docs/transports/nats.md'), 'ts').join('\n');
  expect(program).toContain('natsTransport');
  expect(complaintsAbout({ nats: program })).toEqual([]);
});
