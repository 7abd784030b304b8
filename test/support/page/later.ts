// Objects that a hook makes, under names that can be declared before.

/** Proxy for an object that does not exist yet: each use resolves to the current one. */
export function later<T extends object>(current: () => T): T {
  return new Proxy({} as T, {
    get: (_, name) => {
      const found = Reflect.get(current(), name);
      return typeof found === "function" ? found.bind(current()) : found;
    },
    set: (_, name, to) => Reflect.set(current(), name, to),
  });
}
