// Parts of an object by the names of its fields, such that the compiler knows what is in them.

/** The names of an object's fields. */
export function namesOf<T extends object>(fields: T): Array<keyof T & string> {
  const names: Array<keyof T & string> = [];
  for (const name in fields) names.push(name);
  return names;
}

/**
 * What an object has under a name that may be any text; undefined where it has nothing of its own. Indexed by it, an
 * object would also tell what every object inherits: `constructor`, `__proto__`.
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

/** Some of the fields, where there is a value. */
export function picked<T extends object, const Name extends keyof T>(
  from: T,
  names: readonly Name[],
): Partial<Pick<T, Name>> {
  const fields: Partial<Pick<T, Name>> = {};
  for (const name of names) if (from[name] !== undefined) fields[name] = from[name];
  return fields;
}

/** All fields of a T, also those that it may leave out: undefined where there is no value. */
export type AllOf<T> = { readonly [Name in keyof T]-?: object extends Pick<T, Name> ? T[Name] | undefined : T[Name] };

/** The same without those that are undefined: whoever adds a field to T is asked for it here. */
export function defined<T extends object>(fields: AllOf<T>): T;
export function defined(fields: Readonly<Record<string, unknown>>): object {
  const having: Record<string, unknown> = {};
  for (const name in fields) if (fields[name] !== undefined) having[name] = fields[name];
  return having;
}

/** The fields that have a value: neither undefined nor null. */
export function nonNull<T extends object>(fields: T): { [Name in keyof T]?: NonNullable<T[Name]> } {
  const having: { [Name in keyof T]?: NonNullable<T[Name]> } = {};
  for (const name in fields) {
    const value = fields[name];
    if (value !== undefined && value !== null) having[name] = value;
  }
  return having;
}

/** The same fields: what is null is to be left out. */
export function withoutNulls<T extends object>(
  fields: T,
): { [Name in keyof T]: Exclude<T[Name], null> | (null extends T[Name] ? undefined : never) };
export function withoutNulls(fields: Readonly<Record<string, unknown>>): object {
  const having: Record<string, unknown> = {};
  for (const name in fields) having[name] = fields[name] ?? undefined;
  return having;
}
