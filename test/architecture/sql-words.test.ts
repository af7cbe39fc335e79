// What stands in braces in the SQL files is what src/message.ts says, and no file has such a number without its name.
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { constants, withWords } from '../../scripts/sql-words.mjs';
import { MessageProcessingStatus, WorkBatchFlags } from '../../src/message.js';

const folder = new URL('../../sql/functions/', import.meta.url);
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.sql'),
);
const codeOf = (file: string) => readFileSync(new URL(file, folder), 'utf8').replaceAll(/--.*/g, '');

describe('The words of the SQL files', () => {
  it.each(Object.entries({ ...MessageProcessingStatus, ...WorkBatchFlags }))(
    'the bit %s has the value of src/message.ts wherever the SQL files use it',
    (name, value) => {
      const isUsed = files.some((file) => codeOf(file).includes(`{${name}}`));
      expect(isUsed ? constants[name] : value).toBe(value);
    },
  );

  it('the constant BothStages is the sum of the two stages', () => {
    const { ReceptorProcessed, PerspectiveProcessed } = MessageProcessingStatus;
    expect(constants.BothStages).toBe(ReceptorProcessed | PerspectiveProcessed);
  });

  it('every word in braces that an SQL file uses is known', () => {
    const words = {
      lane: 'inbox',
      target: 'handler_name',
      stored_at: 'received_at',
      waits_for: '',
      waits_at: '',
      can_run: '',
      back_to_handler: '',
    };
    for (const file of files) expect(withWords(codeOf(file), words), file).not.toMatch(/\{[A-Za-z]\w*\}/);
  });

  it('an SQL file compares a status or a flag with a name, not with a number', () => {
    for (const file of files)
      expect(codeOf(file), file).not.toMatch(/(status|flags|completion)\w* [&|] ~?\d/);
  });

  it('a large number in an SQL file has a name', () => {
    for (const file of files) expect(codeOf(file), file).not.toMatch(/\b\d{8,}\b/);
  });
});
