import { WhizbangError, type WhizbangErrorCode } from '../../src/errors.js';

/** The refusal of something that must be refused, and with this code. */
export async function refusalOf(work: () => unknown, code: WhizbangErrorCode): Promise<WhizbangError> {
  try {
    await work();
  } catch (error) {
    if (error instanceof WhizbangError && error.code === code) return error;
    throw error;
  }
  throw new Error(`it was accepted; ${code} was expected`);
}

/** All that a person who reads logs would see of an error. */
export const everythingSaid = (error: WhizbangError): string =>
  JSON.stringify([error.message, error.hint, error.details]);
