// Own-property lookup by an untrusted name, from a URL, a response or user input.

/** Undefined if the property is not the object's own. Plain indexing would also return inherited ones, such as `constructor`. */
export function ownValue<Value>(
  object: Readonly<Record<string, Value>> | null | undefined,
  name: string,
): Value | undefined {
  return object !== null && object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined;
}
