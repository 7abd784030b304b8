// What the browser remembers of a reader's choices. Nothing of an inventory, no secret. Where the browser keeps nothing,
// a choice lasts as long as the page.

const PREFIX = "netledger:";
const instead = new Map<string, string>();

/** @returns null where nothing was kept */
export function kept(name: string): string | null {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return instead.get(name) ?? null;
  }
}

/** @param value null forgets it */
export function keep(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, value);
  } catch {
    if (value === null) instead.delete(name);
    else instead.set(name, value);
  }
}
