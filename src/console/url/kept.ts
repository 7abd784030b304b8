// Browser storage for preferences of the reader. Holds recent searches until sign-out, but no other inventory data and
// no secrets. Without storage, values last as long as the page.

/** Recent searches. */
export const RECENT = "recent";
/** Last selected network. */
export const NETWORK = "network";

const PREFIX = "netledger:";
const instead = new Map<string, string>();

/** @returns null without a stored value */
export function kept(name: string): string | null {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return instead.get(name) ?? null;
  }
}

/**
 * Listens to changes by other tabs of the browser.
 * @param listener called with the current value; null if removed
 */
export function onKeptElsewhere(name: string, listener: (value: string | null) => void): void {
  window.addEventListener("storage", ({ key, newValue }) => {
    // A null key means that the whole storage was cleared.
    if (key === null || key === PREFIX + name) listener(newValue);
  });
}

/** @param value null removes it */
export function keep(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, value);
  } catch {
    if (value === null) instead.delete(name);
    else instead.set(name, value);
  }
}
