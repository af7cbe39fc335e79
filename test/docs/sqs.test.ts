import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { codeBlocks, pageText, root } from './page.js';
import { complaintsAbout } from './program.js';

const page = pageText('docs/transports/sqs.md');

it('the code of the page of the SQS transport compiles', () => {
  expect(complaintsAbout({ sqs: codeBlocks(page, 'ts').join('\n') })).toEqual([]);
});

it('the policy of the page of the SQS transport has exactly the rights that its code asks for', () => {
  const folder = new URL('src/transports/sqs/', root);
  const code = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), 'utf8'));
  const asked = new Set(
    code.flatMap((text) => [...text.matchAll(/'((?:sns|sqs):\w+)'/g)].map(([, action]) => action)),
  );
  asked.delete('sqs:SendMessage'); // what the queue allows the topic
  asked.delete('sns:ListTopics'); // not needed to declare
  const [policy] = codeBlocks(page, 'json').map((text) => JSON.parse(text));
  const given = policy.Statement.flatMap(({ Action }: { readonly Action: readonly string[] }) => Action);
  expect(given.toSorted()).toEqual([...asked].toSorted());
});
