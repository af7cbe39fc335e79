import { expect, it } from 'vitest';
import { codeBlocks, pageText } from './page.js';
import { complaintsAbout } from './program.js';

it('the code of the page of the RabbitMQ transport compiles', () => {
  const page = pageText('docs/transports/rabbitmq.md');
  expect(complaintsAbout({ rabbitmq: codeBlocks(page, 'ts').join('\n') })).toEqual([]);
});
