// Browser storage (WHATWG HTML, section 12.2) that outlives its documents: happy-dom's ends with its window.

/** Content of a `storage` event: the new value of a key. */
export interface StorageChange {
  /** Null after clear(). */
  readonly key: string | null;
  readonly newValue: string | null;
}

/** `localStorage` of all tabs of a browser. */
export class SharedStorage {
  private readonly items = new Map<string, string>();
  private readonly tabs = new Set<(change: StorageChange) => void>();

  /** The storage as seen by one tab. @param onChange called with changes made by other tabs */
  forTab(onChange: (change: StorageChange) => void): Storage {
    this.tabs.add(onChange);
    return createStorage(this.items, (change) => {
      for (const tab of this.tabs) if (tab !== onChange) tab(change);
    });
  }
}

/** `sessionStorage` of a tab. */
export function newStorage(): Storage {
  return createStorage(new Map(), () => {});
}

/** Storage whose own keys are its items. */
function createStorage(items: Map<string, string>, notify: (change: StorageChange) => void): Storage {
  const set = (key: string, value: string) => {
    if (items.get(key) === value) return;
    items.set(key, value);
    notify({ key, newValue: value });
  };
  const remove = (key: string) => {
    if (items.delete(key)) notify({ key, newValue: null });
  };
  const methods = {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => set(key, String(value)),
    removeItem: remove,
    clear: () => {
      if (items.size > 0) notify({ key: null, newValue: null });
      items.clear();
    },
    key: (index: number) => [...items.keys()][index] ?? null,
  };
  return new Proxy(Object.create(methods) as Storage, {
    get: (target, key) =>
      key === "length" ? items.size : key in target ? Reflect.get(target, key) : items.get(String(key)),
    set: (_, key, value) => {
      set(String(key), String(value));
      return true;
    },
    deleteProperty: (_, key) => {
      remove(String(key));
      return true;
    },
    has: (target, key) => key in target || items.has(String(key)),
    // Without the methods, as if they were on the prototype.
    ownKeys: () => [...items.keys()],
    getOwnPropertyDescriptor: (_, key) =>
      items.has(String(key))
        ? { value: items.get(String(key)), writable: true, enumerable: true, configurable: true }
        : undefined,
  });
}
