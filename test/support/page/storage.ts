// Storage of a browser (WHATWG HTML, section 12.2) that outlives the documents which read it: happy-dom's ends with its
// window.

/** `localStorage` or `sessionStorage`: its own keys are what it holds. */
export function newStorage(): Storage {
  const items = new Map<string, string>();
  const methods = {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, String(value)),
    removeItem: (key: string) => void items.delete(key),
    clear: () => items.clear(),
    key: (index: number) => [...items.keys()][index] ?? null,
  };
  return new Proxy(Object.create(methods) as Storage, {
    get: (target, key) =>
      key === "length" ? items.size : key in target ? Reflect.get(target, key) : items.get(String(key)),
    set: (_, key, value) => items.set(String(key), String(value)) !== undefined,
    deleteProperty: (_, key) => items.delete(String(key)) || true,
    has: (target, key) => key in target || items.has(String(key)),
    // The methods are not among them, as if they stood in the prototype.
    ownKeys: () => [...items.keys()],
    getOwnPropertyDescriptor: (_, key) =>
      items.has(String(key))
        ? { value: items.get(String(key)), writable: true, enumerable: true, configurable: true }
        : undefined,
  });
}
