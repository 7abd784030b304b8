// Set-up token from the link that `serve` prints. It arrives in the fragment, which is never sent, is removed from the
// URL immediately, and is kept in memory only.

import { signal } from "@preact/signals";
import { go, location } from "../url/location.ts";

/** Null if no URL had one. */
export const setupToken = signal<string | null>(null);

const FRAGMENT = "#setup=";

/** Takes the token from the URL opened, and from a link pasted over it later. */
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

/** Token in text that ends with the fragment, such as the whole link; null for any other text. */
export function setupTokenIn(text: string): string | null {
  const start = text.indexOf(FRAGMENT);
  const token = start < 0 ? "" : text.slice(start + FRAGMENT.length).trim();
  return token === "" ? null : decode(token);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
