// Address of the page as a signal, and navigation. Adds the carried parameters (instant, network) to every link.

import { computed, signal } from "@preact/signals";

/** Carried from page to page, unlike `vs`, which belongs to its page. */
const CARRIED = ["at", "network"] as const;

const current = signal(new URL(window.location.href));

/** Current address. */
export const location = computed(() => current.value);

export const pathname = computed(() => current.value.pathname);

/** Parameter of the address; null if absent or empty. */
export function parameter(name: string): string | null {
  return current.value.searchParams.get(name) || null;
}

/**
 * Address of a page with the carried parameters.
 * @param path may have parameters of its own: `/hosts?search=core`
 * @param changes parameters to set; null removes one
 */
export function hrefOf(path: string, changes: Readonly<Record<string, string | null | undefined>> = {}): string {
  const url = new URL(path, current.value.origin);
  for (const name of CARRIED) {
    const carried = parameter(name);
    if (carried !== null && !url.searchParams.has(name)) url.searchParams.set(name, carried);
  }
  return shown(changed(url, changes));
}

/** Paging parameters, reset whenever other parameters change. */
const PLACE = { offset: null, until: null };

/** Offset of the first row of a list, from the address; 0 by default. */
export const pageOffset = computed(() => {
  const offset = Number(parameter("offset"));
  return Number.isSafeInteger(offset) && offset > 0 ? offset : 0;
});

/** Address of this page with changed parameters; null removes one. */
export function hrefHere(changes: Readonly<Record<string, string | null | undefined>>): string {
  return shown(changed(new URL(current.value), { ...PLACE, ...changes }));
}

function changed(url: URL, changes: Readonly<Record<string, string | null | undefined>>): URL {
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) continue;
    if (value === null || value === "") url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  return url;
}

/** Keeps colons, commas and slashes readable; none needs encoding in a query (RFC 3986 section 3.4). */
function shown(url: URL): string {
  // A leading double slash would start an authority.
  return `${url.pathname.replace(/^\/+/, "/")}${url.search.replaceAll("%3A", ":").replaceAll("%2C", ",").replaceAll("%2F", "/")}${url.hash}`;
}

/** Index of the current history entry, continued after reloads. Key of the scroll positions restored by Back. */
let entry = entryOf(window.history.state);
window.history.replaceState({ entry }, "");

function entryOf(state: unknown): number {
  const { entry: known } = (state ?? {}) as { readonly entry?: unknown };
  return typeof known === "number" ? known : 0;
}

/** Scroll position of the page or its list, by history entry. */
const scrolled = new Map<string, number>();
type Scrolling = "page" | "list";

export function keepScrolled(what: Scrolling, top: number): void {
  scrolled.set(`${entry} ${what}`, top);
}

/** 0 for a new entry. */
export function keptScrolled(what: Scrolling): number {
  return scrolled.get(`${entry} ${what}`) ?? 0;
}

/** Safari allows at most a hundred replacements of an entry in 30 seconds. */
const REPLACE_PACE_MS = 350;
/** Address to write once the entry may be replaced again. */
let waitingUrl: URL | null = null;
let isPaced = false;

/** The displayed address changes at once; the history entry may follow later. */
function replaceEntry(url: URL): void {
  waitingUrl = url;
  if (isPaced) return;
  isPaced = true;
  writeWaiting();
  setTimeout(() => {
    isPaced = false;
    if (waitingUrl !== null) replaceEntry(waitingUrl);
  }, REPLACE_PACE_MS);
}

function writeWaiting(): void {
  if (waitingUrl !== null) window.history.replaceState({ entry }, "", waitingUrl);
  waitingUrl = null;
}

/**
 * Navigates to an address of the console.
 * @param how `replace` omits a history entry, for continuous changes
 */
export function go(href: string, how: "push" | "replace" = "push"): void {
  const url = new URL(href, current.peek());
  if (url.href === current.peek().href) return;
  if (how === "replace") replaceEntry(url);
  else {
    writeWaiting();
    entry += 1;
    // Discards the positions of former forward entries.
    for (const what of ["page", "list"] as const) scrolled.delete(`${entry} ${what}`);
    window.history.pushState({ entry }, "", url);
  }
  const isOtherPage = url.pathname !== current.peek().pathname;
  current.value = url;
  if (how === "push" && isOtherPage) window.scrollTo(0, 0);
}

/**
 * Handles clicks on links, and Back and Forward.
 * @param isPage whether a path belongs to the console
 */
export function followLinks(isPage: (path: string) => boolean): void {
  window.addEventListener("popstate", ({ state }) => {
    waitingUrl = null;
    entry = entryOf(state);
    const top = keptScrolled("page");
    current.value = new URL(window.location.href);
    scrollBack(top);
  });
  window.addEventListener("scroll", () => isScrollingBack || keepScrolled("page", window.scrollY), { passive: true });
  for (const own of ["wheel", "touchmove", "keydown", "pointerdown"] as const)
    window.addEventListener(own, () => (isScrollingBack = false), { passive: true });
  window.addEventListener("pagehide", writeWaiting);
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

/** Maximum time for a revisited page to load its answers. */
const SCROLL_BACK_MAX_MS = 3_000;
let isScrollingBack = false;

/** Scrolls once the page is long enough, unless the user scrolls first. */
function scrollBack(top: number): void {
  isScrollingBack = top > 0;
  const began = performance.now();
  const step = () => {
    if (!isScrollingBack) return;
    const isThere = document.documentElement.scrollHeight - window.innerHeight >= top;
    if (isThere) window.scrollTo(0, top);
    isScrollingBack = !isThere && performance.now() - began < SCROLL_BACK_MAX_MS;
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}
