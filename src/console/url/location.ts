// URL of the page as a signal, and navigation. Every link carries over the timestamp and network parameters.

import { computed, signal } from "@preact/signals";

/** Parameters carried from page to page, unlike `vs`, which belongs to its page. */
const CARRIED = ["at", "network"] as const;

const current = signal(new URL(window.location.href));

/** Current URL. */
export const location = computed(() => current.value);

export const pathname = computed(() => current.value.pathname);

/** URL parameter; null if absent or empty. */
export function parameter(name: string): string | null {
  return current.value.searchParams.get(name) || null;
}

/**
 * URL of a page with the carried parameters.
 * @param path may have its own parameters: `/hosts?search=core`
 * @param changes parameters to set; null removes one
 */
export function hrefOf(path: string, changes: Readonly<Record<string, string | null | undefined>> = {}): string {
  const url = new URL(path, current.value.origin);
  for (const name of CARRIED) {
    const carried = parameter(name);
    if (carried !== null && !url.searchParams.has(name)) url.searchParams.set(name, carried);
  }
  return readable(withChanges(url, changes));
}

/** Paging parameters, reset whenever other parameters change. */
const PAGING = { offset: null, until: null };

/** Offset of a list's first row, from the URL; 0 by default. */
export const pageOffset = computed(() => {
  const offset = Number(parameter("offset"));
  return Number.isSafeInteger(offset) && offset > 0 ? offset : 0;
});

/** URL of this page with changed parameters; null removes one. */
export function hrefHere(changes: Readonly<Record<string, string | null | undefined>>): string {
  return readable(withChanges(new URL(current.value), { ...PAGING, ...changes }));
}

function withChanges(url: URL, changes: Readonly<Record<string, string | null | undefined>>): URL {
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) continue;
    if (value === null || value === "") url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return url;
}

/** Keeps colons, commas and slashes readable; none needs encoding in a query (RFC 3986 section 3.4). */
function readable(url: URL): string {
  // A leading double slash would start an authority.
  return `${url.pathname.replace(/^\/+/, "/")}${url.search.replaceAll("%3A", ":").replaceAll("%2C", ",").replaceAll("%2F", "/")}${url.hash}`;
}

/** Index of the current history entry, continued after reloads; identifies the scroll positions that Back restores. */
let entry = entryOf(window.history.state);
window.history.replaceState({ entry }, "");

function entryOf(state: unknown): number {
  const { entry: savedEntry } = (state ?? {}) as { readonly entry?: unknown };
  return typeof savedEntry === "number" ? savedEntry : 0;
}

/** Scroll positions of the page and its list, by history entry. */
const scrolled = new Map<string, number>();
type ScrollArea = "page" | "list";

export function saveScroll(area: ScrollArea, top: number): void {
  scrolled.set(`${entry} ${area}`, top);
}

/** Scroll position saved for the current history entry; 0 for a new one. */
export function savedScroll(area: ScrollArea): number {
  return scrolled.get(`${entry} ${area}`) ?? 0;
}

/** Safari allows at most a hundred replacements of an entry in 30 seconds. */
const REPLACE_INTERVAL_MS = 350;
/** URL to write once the history entry may be replaced again. */
let pendingUrl: URL | null = null;
let isThrottled = false;

/** Replaces the history entry, possibly with a delay; the signal changes immediately. */
function replaceEntry(url: URL): void {
  pendingUrl = url;
  if (isThrottled) return;
  isThrottled = true;
  writePending();
  setTimeout(() => {
    isThrottled = false;
    if (pendingUrl !== null) replaceEntry(pendingUrl);
  }, REPLACE_INTERVAL_MS);
}

function writePending(): void {
  if (pendingUrl !== null) window.history.replaceState({ entry }, "", pendingUrl);
  pendingUrl = null;
}

/** Navigates to a URL of the console. @param how `replace` adds no history entry, for continuous changes */
export function go(href: string, how: "push" | "replace" = "push"): void {
  const url = new URL(href, current.peek());
  if (url.href === current.peek().href) return;
  if (how === "replace") replaceEntry(url);
  else {
    writePending();
    entry += 1;
    // Discards the positions of former forward entries.
    for (const area of ["page", "list"] as const) scrolled.delete(`${entry} ${area}`);
    window.history.pushState({ entry }, "", url);
  }
  const isOtherPage = url.pathname !== current.peek().pathname;
  current.value = url;
  if (how === "push" && isOtherPage) window.scrollTo(0, 0);
}

/** Handles clicks on links, and Back and Forward. @param isPage whether a path belongs to the console */
export function followLinks(isPage: (path: string) => boolean): void {
  window.addEventListener("popstate", ({ state }) => {
    pendingUrl = null;
    entry = entryOf(state);
    const top = savedScroll("page");
    current.value = new URL(window.location.href);
    restoreScroll(top);
  });
  window.addEventListener("scroll", () => isRestoringScroll || saveScroll("page", window.scrollY), { passive: true });
  for (const eventName of ["wheel", "touchmove", "keydown", "pointerdown"] as const)
    window.addEventListener(eventName, () => (isRestoringScroll = false), { passive: true });
  window.addEventListener("pagehide", writePending);
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (link === null || link.target !== "" || link.hasAttribute("download")) return;
    const url = new URL(link.href, current.value);
    if (url.origin !== current.value.origin || !isPage(url.pathname)) return;
    if (url.hash !== "" && url.pathname + url.search === current.value.pathname + current.value.search) return;
    event.preventDefault();
    go(url.href);
  });
}

/** Time limit for a revisited page to load its responses. */
const RESTORE_SCROLL_MAX_MS = 3_000;
let isRestoringScroll = false;

/** Scrolls once the page is long enough, unless the user scrolls first. */
function restoreScroll(top: number): void {
  isRestoringScroll = top > 0;
  const startMs = performance.now();
  const step = () => {
    if (!isRestoringScroll) return;
    const isLongEnough = document.documentElement.scrollHeight - window.innerHeight >= top;
    if (isLongEnough) window.scrollTo(0, top);
    isRestoringScroll = !isLongEnough && performance.now() - startMs < RESTORE_SCROLL_MAX_MS;
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}
