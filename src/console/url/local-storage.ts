// Local storage for settings of this browser. Holds recent searches until sign-out, but no other inventory data and no
// secrets. Without storage, values last as long as the page.

/** Name of the recent searches. */
export const RECENT = "recent";
/** Name of the last selected network. */
export const NETWORK = "network";

const PREFIX = "netledger:";
const fallback = new Map<string, string>();

/** Stored value; null without one. */
export function readStored(name: string): string | null {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return fallback.get(name) ?? null;
  }
}

/** Listens to changes by other tabs. @param listener called with the new value; null if removed */
export function onStoredElsewhere(name: string, listener: (value: string | null) => void): void {
  window.addEventListener("storage", ({ key, newValue }) => {
    // A null key means that the whole storage was cleared.
    if (key === null || key === PREFIX + name) listener(newValue);
  });
}

/** @param value null removes the stored value */
export function writeStored(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, value);
  } catch {
    if (value === null) fallback.delete(name);
    else fallback.set(name, value);
  }
}
