// Typed access to object fields by name.

/** Field names of an object. */
export function namesOf<T extends object>(fields: T): Array<keyof T & string> {
  const names: Array<keyof T & string> = [];
  for (const name in fields) names.push(name);
  return names;
}

/**
 * Own value under an arbitrary name; undefined if there is none. Plain indexing would also find inherited members:
 * `constructor`, `__proto__`.
 */
export function ownValue<Value>(
  object: Readonly<Record<string, Value>> | null | undefined,
  name: string,
): Value | undefined;
export function ownValue(object: object | null | undefined, name: string): unknown;
export function ownValue(object: object | null | undefined, name: string): unknown {
  if (object === null || object === undefined || !Object.hasOwn(object, name)) return undefined;
  return (object as Readonly<Record<string, unknown>>)[name];
}

/** The named fields that have a value. */
export function pickFields<T extends object, const Name extends keyof T>(
  from: T,
  names: readonly Name[],
): Partial<Pick<T, Name>> {
  const fields: Partial<Pick<T, Name>> = {};
  for (const name of names) if (from[name] !== undefined) fields[name] = from[name];
  return fields;
}

/** All fields of T, including optional ones: undefined without a value. */
export type AllOf<T> = { readonly [Name in keyof T]-?: object extends Pick<T, Name> ? T[Name] | undefined : T[Name] };

/** Removes undefined fields; a field added to T becomes a compile error at the caller. */
export function defined<T extends object>(fields: AllOf<T>): T;
export function defined(fields: Readonly<Record<string, unknown>>): object {
  const result: Record<string, unknown> = {};
  for (const name in fields) if (fields[name] !== undefined) result[name] = fields[name];
  return result;
}

/** The fields with a value, neither undefined nor null. */
export function nonNull<T extends object>(fields: T): { [Name in keyof T]?: NonNullable<T[Name]> } {
  const result: { [Name in keyof T]?: NonNullable<T[Name]> } = {};
  for (const name in fields) {
    const value = fields[name];
    if (value !== undefined && value !== null) result[name] = value;
  }
  return result;
}

/** The same fields, with null turned into undefined. */
export function withoutNulls<T extends object>(
  fields: T,
): { [Name in keyof T]: Exclude<T[Name], null> | (null extends T[Name] ? undefined : never) };
export function withoutNulls(fields: Readonly<Record<string, unknown>>): object {
  const result: Record<string, unknown> = {};
  for (const name in fields) result[name] = fields[name] ?? undefined;
  return result;
}
