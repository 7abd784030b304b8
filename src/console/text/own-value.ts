// What an object has under a name that comes from an address, an answer or a person.

/**
 * Undefined where the object has nothing of its own: indexed by any text it would also tell what every object inherits,
 * `constructor` and `__proto__`.
 */
export function ownValue<Value>(
  object: Readonly<Record<string, Value>> | null | undefined,
  name: string,
): Value | undefined {
  return object !== null && object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined;
}
