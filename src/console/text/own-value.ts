// Own-property lookup by an untrusted name, from an address, a response or user input.

/**
 * Undefined without an own property. Plain indexing would also return inherited ones, such as `constructor` and
 * `__proto__`.
 */
export function ownValue<Value>(
  object: Readonly<Record<string, Value>> | null | undefined,
  name: string,
): Value | undefined {
  return object !== null && object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined;
}
