// Multimap: several values per key. Pure.

export class MultiMap<Key, Value> {
  private readonly values = new Map<Key, Set<Value>>();

  get(key: Key): ReadonlySet<Value> {
    return this.values.get(key) ?? NONE;
  }

  add(key: Key, value: Value): void {
    const known = this.values.get(key);
    if (known === undefined) this.values.set(key, new Set([value]));
    else known.add(value);
  }

  remove(key: Key, value: Value): void {
    const known = this.values.get(key);
    if (known?.delete(value) === true && known.size === 0) this.values.delete(key);
  }
}

const NONE: ReadonlySet<never> = new Set();
