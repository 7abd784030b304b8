// Proxies for objects that a hook creates later.

/** Proxy for an object that does not exist yet: each use resolves to the current one. */
export function lazyProxy<T extends object>(current: () => T): T {
  return new Proxy({} as T, {
    get: (_, name) => {
      const member = Reflect.get(current(), name);
      return typeof member === "function" ? member.bind(current()) : member;
    },
    set: (_, name, value) => Reflect.set(current(), name, value),
  });
}
