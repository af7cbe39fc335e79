import { describe, expect, it } from 'vitest';
import { withQuestionMarks } from '../../src/transactions/knex.js';
import { splitAtParameters } from '../../src/transactions/placeholders.js';
import { withEscapedDollars } from '../../src/transactions/sequelize.js';

const parametersOf = (statement: string) =>
  splitAtParameters(statement).flatMap((part) => ('parameter' in part ? [part.parameter] : []));

describe('The parameters of a statement', () => {
  it.each([
    ['none', 'select 1', []],
    ['with casts and named arguments', 'select f(a => $1::text::jsonb, b=>$12::int)', [1, 12]],
    ['used twice', '$2 $1 $2', [2, 1, 2]],
    ['none in a literal', `select '$1', 'it''s $1', $2`, [2]],
    ['none in a literal with escapes', String.raw`select E'\' $1', e'\\', $2`, [2]],
    ['after a backslash that escapes nothing', String.raw`select '\', $1, '$2'`, [1]],
    ['none in a quoted name', 'select 1 as "$1 ""$2""", $3', [3]],
    ['none in dollar quotes', 'select $$ $1 $$, $tag$ $1 $$ $tag$, $2', [2]],
    ['none in comments', 'select $1 -- $2\n, /* $3 */ $4', [1, 4]],
    ['none within a name', 'select a$1, b_2$3 from t where x = $4', [4]],
  ])('the parameters of a statement are found: %s', (_, statement, parameters) => {
    expect(parametersOf(statement)).toEqual(parameters);
  });

  it('a statement split at its parameters keeps the rest of its text', () => {
    const statement = `select $1::text, '$2 ?', "a$3" from t where $2 = 'x'`;
    const joined = splitAtParameters(statement).map((part) =>
      'text' in part ? part.text : `$${part.parameter}`,
    );
    expect(joined.join('')).toBe(statement);
  });
});

describe('Statements for Knex', () => {
  it('parameters become question marks for Knex, in their order, and other question marks are escaped', () => {
    expect(withQuestionMarks(`select $2, $1, $2, '$1 ?', a ?? b`, ['one', 'two'])).toEqual({
      sql: String.raw`select ?, ?, ?, '$1 \?', a \?\? b`,
      bindings: ['two', 'one', 'two'],
    });
  });
});

describe('Statements for Sequelize', () => {
  it('a dollar that is not a parameter is doubled where Sequelize would read it', () => {
    expect(withEscapedDollars(`select $1, '$1 $$ $x', a$1, 'b$$2'`)).toBe(
      `select $1, '$$1 $$$$ $$x', a$1, 'b$$$2'`,
    );
  });
});
