import { describe, expect, it } from 'vitest';
import { fromDatabaseError, serverErrorOf } from '../../src/database/index.js';

const driverError = () => Object.assign(new Error('said the server'), { code: '40001', detail: 'why' });
/** As Prisma 7 wraps it: `meta.driverAdapterError.cause` holds what the server said, in an object that is no Error. */
const fromPrisma = (cause: object) =>
  Object.assign(new Error('Raw query failed'), {
    code: 'P2010',
    clientVersion: '7.10.0',
    meta: { driverAdapterError: Object.assign(new Error('kind'), { cause }) },
  });

describe('The error of the server', () => {
  it.each([
    ['as the cause', new Error('Failed query', { cause: driverError() })],
    ['as the parent, by Sequelize', Object.assign(new Error('x'), { parent: driverError() })],
    ['as the driverError, by TypeORM', Object.assign(new Error('x'), { driverError: driverError() })],
    [
      'two wrappers deep',
      new Error('x', { cause: Object.assign(new Error('y'), { parent: driverError() }) }),
    ],
  ])('the error of the server is found %s', (_, wrapped) => {
    expect(serverErrorOf(wrapped)).toMatchObject({
      code: '40001',
      message: 'said the server',
      detail: 'why',
    });
    expect(fromDatabaseError(wrapped)).toMatchObject({ code: 'SERIALIZATION', cause: wrapped });
  });

  it('the error of the server is found under an error of Prisma, whose code is not an SQLSTATE', () => {
    const wrapped = fromPrisma({
      originalCode: 'WB001',
      originalMessage: 'bad',
      kind: 'postgres',
      column: 'p_flags',
    });
    expect(serverErrorOf(wrapped)).toMatchObject({ code: 'WB001', message: 'bad', column: 'p_flags' });
    expect(fromDatabaseError(wrapped).details).toEqual({ sqlState: 'WB001', field: 'p_flags' });
    expect(serverErrorOf(fromPrisma({ kind: 'ConnectionClosed' }))).toBeUndefined();
  });

  it('the search for the error of the server ends in a circular chain', () => {
    const circle = new Error('x');
    circle.cause = circle;
    expect(serverErrorOf(circle)).toBeUndefined();
  });
});
