// The one rule of what a UUID looks like.

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
export const nilUuid = '00000000-0000-0000-0000-000000000000';

/** Whether it is written in the usual 36 characters. */
export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && uuid.test(value);
}

/** Whether it is such a UUID and not all zeros, which means an unset variable of the user. */
export function isGivenUuid(value: unknown): value is string {
  return isUuid(value) && value !== nilUuid;
}
