// Where one is: the page's address as a signal, and the ways to another one. What every page's address carries along
// (the instant, the network) is added here, so that no link can forget it.

import { computed, signal } from "@preact/signals";

/** Carried from page to page. `vs` is not: what is compared belongs to the page. */
const CARRIED = ["at", "network"] as const;

const current = signal(new URL(window.location.href));

/** The address that is shown. */
export const location = computed(() => current.value);

export const pathname = computed(() => current.value.pathname);

/** A parameter of the address; null where it is absent or empty. */
export function parameter(name: string): string | null {
  return current.value.searchParams.get(name) || null;
}

/**
 * The address of a page, with what is carried along.
 * @param path with or without parameters of its own: `/hosts?search=core`
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

/** Which rows of a list are shown: what is listed otherwise is shown from its beginning. */
const PLACE = { offset: null, until: null };

/** The first row that a list shows, as the address says it: 0 without. */
export const pageOffset = computed(() => {
  const offset = Number(parameter("offset"));
  return Number.isSafeInteger(offset) && offset > 0 ? offset : 0;
});

/** The address of this page with other parameters; null removes one. */
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

/** Colons, commas and slashes are read by people, and mean nothing in a query (RFC 3986 section 3.4). */
function shown(url: URL): string {
  // Two slashes would begin the name of another host.
  return `${url.pathname.replace(/^\/+/, "/")}${url.search.replaceAll("%3A", ":").replaceAll("%2C", ",").replaceAll("%2F", "/")}${url.hash}`;
}

/**
 * Which entry of the browser's history is shown. They are counted, also by what is loaded anew, so that the way back
 * leads to what one had scrolled to.
 */
let entry = entryOf(window.history.state);
window.history.replaceState({ entry }, "");

function entryOf(state: unknown): number {
  const { entry: known } = (state ?? {}) as { readonly entry?: unknown };
  return typeof known === "number" ? known : 0;
}

/** How far one has scrolled the page, or the list in it, by entry. */
const scrolled = new Map<string, number>();
type Scrolling = "page" | "list";

export function keepScrolled(what: Scrolling, top: number): void {
  scrolled.set(`${entry} ${what}`, top);
}

/** 0 where one comes to an entry for the first time. */
export function keptScrolled(what: Scrolling): number {
  return scrolled.get(`${entry} ${what}`) ?? 0;
}

/** Safari refuses to replace an entry more than a hundred times in half a minute. */
const REPLACE_PACE_MS = 350;
/** What the entry says once it may be replaced again. */
let waitingUrl: URL | null = null;
let isPaced = false;

/** What is shown changes at once; what the browser remembers of it may come a moment later. */
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
 * Goes to an address of the console.
 * @param how whether the way back leads here; replacing is for what changes while one looks at it
 */
export function go(href: string, how: "push" | "replace" = "push"): void {
  const url = new URL(href, current.peek());
  if (url.href === current.peek().href) return;
  if (how === "replace") replaceEntry(url);
  else {
    writeWaiting();
    entry += 1;
    // What was ahead before is not any more.
    for (const what of ["page", "list"] as const) scrolled.delete(`${entry} ${what}`);
    window.history.pushState({ entry }, "", url);
  }
  const isOtherPage = url.pathname !== current.peek().pathname;
  current.value = url;
  if (how === "push" && isOtherPage) window.scrollTo(0, 0);
}

/**
 * Takes over the links of the page, and the browser's own ways.
 * @param isPage whether a path is one of the console's
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

/** A page that was left is there again once its answers are: so long it may take. */
const SCROLL_BACK_MAX_MS = 3_000;
let isScrollingBack = false;

/** As soon as the page is long enough, unless somebody scrolls meanwhile. */
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
