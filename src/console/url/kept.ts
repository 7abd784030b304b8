// What the browser remembers of a reader's choices. Nothing of an inventory but the
// questions that were asked, until the reader signs out; no secret. Where the browser keeps nothing,
// a choice lasts as long as the page.

/** What was asked for last. */
export const RECENT = "recent";
/** The network that was looked at last. */
export const NETWORK = "network";

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

/**
 * Hears what another tab of the browser keeps or forgets.
 * @param listener told what is kept now; null for nothing
 */
export function onKeptElsewhere(name: string, listener: (value: string | null) => void): void {
  window.addEventListener("storage", ({ key, newValue }) => {
    // No key: all was forgotten at once.
    if (key === null || key === PREFIX + name) listener(newValue);
  });
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
