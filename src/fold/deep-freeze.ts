/** Freezes a value and all that it contains. What is frozen already is not looked into again. */
export function deepFreeze<T>(value: T): T {
  // A typed array cannot be frozen, and a Date has its value inside: both are left as they are.
  if (typeof value !== 'object' || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value)) {
    return value;
  }
  Object.freeze(value);
  for (const key of Reflect.ownKeys(value)) {
    const member = (value as Record<PropertyKey, unknown>)[key];
    if (typeof member === 'object') deepFreeze(member);
  }
  return value;
}
