// Set-up token of the link printed by `serve`. It arrives in the fragment, which is never sent, is removed from the
// address first of all, and is kept in memory only.

import { signal } from "@preact/signals";
import { go, location } from "../url/location.ts";

/** Null if the address had none. */
export const setupToken = signal<string | null>(null);

const FRAGMENT = "#setup=";

/** Takes the token from the opened address, and from a link pasted over it later. */
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

/** Token in a text that ends with the fragment, such as the whole link; null for any other text. */
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
