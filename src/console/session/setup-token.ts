// The set-up token of the link that `serve` prints. It comes in the fragment, which no request carries; it is taken out
// of the address before anything else is done, and is in this page's memory alone.

import { signal } from "@preact/signals";
import { go, location } from "../url/location.ts";

/** Null where the address brought none. */
export const setupToken = signal<string | null>(null);

const FRAGMENT = "#setup=";

/** Takes it out of the address that was opened, and of one that is pasted over it later. */
export function watchForSetupToken(): void {
  takeSetupToken();
  window.addEventListener("hashchange", takeSetupToken);
}

function takeSetupToken(): void {
  const { hash, pathname, search } = location.peek();
  const token = setupTokenIn(hash);
  if (token === null) return;
  setupToken.value = token;
  go(pathname + search, "replace");
}

/** The token in a text that ends with the fragment, as the whole link does; null for any other. */
export function setupTokenIn(text: string): string | null {
  const begin = text.indexOf(FRAGMENT);
  const token = begin < 0 ? "" : text.slice(begin + FRAGMENT.length).trim();
  return token === "" ? null : decoded(token);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
