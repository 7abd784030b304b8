// One document of the console: the real script on a separate window, its only global scope. Its tab provides further
// browser features. Nothing of it outlives `end`.

import {
  type Document,
  type Element,
  type Event,
  type HTMLElement,
  type HTMLSelectElement,
  type IBrowserSettings,
  type Node,
  PropertySymbol,
  Window,
} from "happy-dom";
import { systemTimers } from "../../../src/base/timers.ts";
import { builtConsole } from "./built-console.ts";
import { PageFormData } from "./form-data.ts";
import { INJECTED_START, type Injected, injectedSource } from "./injected.ts";
import { Overlays } from "./overlays.ts";
import type { StorageChange } from "./storage.ts";
import { matchesMedia, Styles, type Viewport } from "./styles.ts";
import { stirred } from "./waiting.ts";

/** Features of the tab for a document. */
export interface Surroundings {
  readonly viewport: Viewport;
  readonly localStorage: Storage;
  readonly sessionStorage: Storage;
  readonly history: object;
  /** Answers like a server and a network; the document may have ended by then. */
  fetch(request: Request): Promise<Response>;
  /** Navigates to an address. */
  leaveFor(url: string): void;
  /** Records a failure that no journey may have. */
  trouble(sentence: string): void;
}

type Values = Readonly<Record<string, unknown>>;

/** Bun's own implementations: the app accepts and returns these request and response types. */
const NATIVE: Values = {
  ...{ AbortController, AbortSignal, Blob, DOMException, Headers, ReadableStream, Request, Response, TransformStream },
  ...{ TextDecoder, TextDecoderStream, TextEncoder, URL, URLSearchParams, WritableStream, performance, crypto },
};

/** Globals of the language, which a happy-dom window has as well. */
const OF_LANGUAGE =
  /^(?:\w*Error|\w*Array|ArrayBuffer|Atomics|BigInt|Boolean|DataView|Date|FinalizationRegistry|Function|Infinity|Intl|Iterator|JSON|Map|Math|NaN|Number|Object|Promise|Proxy|Reflect|RegExp|Set|String|Symbol|WeakMap|WeakRef|WeakSet|eval|isFinite|isNaN|parseFloat|parseInt|undefined|(?:de|en)codeURI(?:Component)?)$/;

/** Scripts of all pages, compiled once; their parameters are the globals they see. */
interface Scripts {
  readonly names: readonly string[];
  readonly run: (...values: unknown[]) => void;
  readonly find: (...values: unknown[]) => Injected;
  readonly evaluate: (...values: unknown[]) => unknown;
  readonly styles: Styles;
}

let compiled: Promise<Scripts> | undefined;

async function compile(window: Window): Promise<Scripts> {
  const { script, styles } = await builtConsole();
  const injected = injectedSource();
  const used = new Set(`${script} ${injected} window self globalThis`.match(/[A-Za-z_$][\w$]*/g));
  const names = [...used].filter(
    (name) => (name in window || name in OWN_NAMES) && !(name in NATIVE) && !OF_LANGUAGE.test(name),
  );
  return {
    names,
    run: new Function(...names, script) as Scripts["run"],
    find: new Function(...names, `const module = {};\n${injected}\nreturn ${INJECTED_START};`) as Scripts["find"],
    evaluate: new Function(...names, "$code", "return eval($code)") as Scripts["evaluate"],
    styles: new Styles(styles),
  };
}

/** Browser globals that happy-dom lacks. */
const OWN_NAMES = {
  BroadcastChannel: 0,
  ResizeObserver: 0,
  XPathResult: 0,
  requestIdleCallback: 0,
  cancelIdleCallback: 0,
};

const SETTINGS: Partial<IBrowserSettings> = {
  disableCSSFileLoading: true,
  disableJavaScriptFileLoading: true,
  disableComputedStyleRendering: true,
  navigation: { disableMainFrameNavigation: true, disableFallbackToSetURL: true } as IBrowserSettings["navigation"],
};

/** Delay of an animation frame. */
const FRAME_MS = 4;
/** Height of a list and of each element: that of a 1280 by 800 window below the frame. */
const CONTENT_HEIGHT = 640;
const LINE_HEIGHT = 20;

export class ShownDocument {
  readonly window: Window;
  readonly document: Document;
  readonly overlays: Overlays;
  readonly find: Injected;
  private readonly scripts: Scripts;
  private readonly values: readonly unknown[];
  private readonly around: Surroundings;
  private readonly over = new AbortController();
  /** Functions that cancel the timers. */
  private readonly timers = new Map<number, () => void>();
  private lastTimer = 0;
  private readonly media = new Set<{ readonly query: string; was: boolean; readonly list: EventTarget }>();

  /** Without running its script. @param html of the page, without scripts */
  static async load(url: string, html: string, around: Surroundings): Promise<ShownDocument> {
    const window = new Window({
      url,
      width: around.viewport.width,
      height: around.viewport.height,
      settings: SETTINGS,
    });
    compiled ??= compile(window);
    return new ShownDocument(window, html, await compiled, around);
  }

  private constructor(window: Window, html: string, scripts: Scripts, around: Surroundings) {
    this.window = window;
    this.document = window.document;
    this.scripts = scripts;
    this.around = around;
    this.document.write(html);
    Object.assign(this.document, { evaluate: evaluatePath });
    const own = this.own();
    for (const [name, value] of Object.entries({ ...NATIVE, ...own }))
      Object.defineProperty(window, name, { value, configurable: true, writable: true });
    const location = {
      assign: around.leaveFor,
      replace: around.leaveFor,
      reload: () => around.leaveFor(window.location.href),
    };
    for (const [name, value] of Object.entries(location)) Object.defineProperty(window.location, name, { value });
    // As over plain HTTP: each tab follows the changes separately.
    Object.defineProperty(window.navigator, "locks", { value: undefined });
    this.overlays = new Overlays(window, (element) => this.isShown(element));
    window.addEventListener("error", (event) => {
      around.trouble(`threw: ${(event as Event & { readonly message: string }).message}`);
    });
    new window.MutationObserver(stirred).observe(this.document, {
      subtree: true,
      childList: true,
      characterData: true,
      attributes: true,
    });
    const all: Values = { ...own, window, self: window, globalThis: window };
    this.values = scripts.names.map((name) => {
      if (name in all) return all[name];
      const value = (window as unknown as Values)[name];
      return typeof value === "function" && !/^[A-Z]/.test(name) ? value.bind(window) : value;
    });
    this.find = scripts.find(...this.values);
  }

  /** Runs the script. */
  start(): void {
    this.guarded(() => this.scripts.run(...this.values));
    // Default action, unless prevented.
    this.window.addEventListener("click", (event) => this.followLink(event));
  }

  /** @param code an expression or statements, with the console's globals @returns its value or promise */
  evaluate(code: string): unknown {
    return this.scripts.evaluate(...this.values, code);
  }

  /** Sets the address without loading it. */
  setUrl(url: string): void {
    this.window.happyDOM.setURL(url);
  }

  isShown(element: Element): boolean {
    return this.document.documentElement.contains(element) && this.hiddenAt(element) === null;
  }

  /** Signals a change of the preferred color scheme. */
  mediaChanged(): void {
    for (const each of this.media) {
      const is = matchesMedia(each.query, this.around.viewport);
      if (is !== each.was) each.list.dispatchEvent(Object.assign(new globalThis.Event("change"), { matches: is }));
      each.was = is;
    }
  }

  /** Signals a storage change by another tab. */
  storageChanged(change: StorageChange): void {
    this.after(0, () => this.window.dispatchEvent(Object.assign(new this.window.Event("storage"), change)), false);
  }

  /** Ends the document: no timer fires, and no answer arrives. */
  end(): void {
    this.window.dispatchEvent(new this.window.Event("pagehide"));
    this.over.abort();
    for (const callOff of this.timers.values()) callOff();
    this.timers.clear();
    void this.window.happyDOM.close();
  }

  /** The nearest unrendered element among an element and its ancestors. */
  private hiddenAt(element: Element): Element | null {
    for (let each: Element | null = element; each !== null; each = each.parentElement) {
      if (this.scripts.styles.displayOf(each, this.around.viewport) === "none") return each;
      const around = each.parentElement;
      if (around?.tagName === "DETAILS" && !around.hasAttribute("open") && each.tagName !== "SUMMARY") return each;
    }
    return null;
  }

  private styleOf(element: Element, pseudo?: string | null) {
    const { styles } = this.scripts;
    const { viewport } = this.around;
    const visibility = () => {
      for (let each: Element | null = element; each !== null; each = each.parentElement) {
        const said = styles.visibilityOf(each, viewport);
        if (said !== null && said !== "inherit") return said;
      }
      return "visible";
    };
    return {
      get display() {
        return pseudo ? "inline" : styles.displayOf(element, viewport);
      },
      get visibility() {
        return visibility();
      },
      content: pseudo ? "none" : "normal",
      cursor: "auto",
      pointerEvents: "auto",
      opacity: "1",
      color: "rgb(0, 0, 0)",
      direction: "ltr",
      transform: "none",
      getPropertyValue: () => "",
    };
  }

  private guarded<T>(action: () => T): T | undefined {
    try {
      return action();
    } catch (error) {
      this.around.trouble(`threw: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    } finally {
      stirred();
    }
  }

  private after(ms: number, action: () => void, again: boolean): number {
    const id = ++this.lastTimer;
    const due = () => {
      if (again) this.timers.set(id, systemTimers.after(ms, due));
      else this.timers.delete(id);
      this.guarded(action);
    };
    this.timers.set(id, systemTimers.after(ms, due));
    return id;
  }

  private cancel(id: number): void {
    this.timers.get(id)?.();
    this.timers.delete(id);
  }

  private fetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
    const request =
      input instanceof Request
        ? new Request(input, init)
        : new Request(new URL(input, this.window.location.href).href, init);
    const { signal } = request;
    return new Promise((resolve, reject) => {
      const settle = (action: () => void) => {
        if (this.over.signal.aborted) return;
        action();
        stirred();
      };
      const abort = () => settle(() => reject(signal.reason));
      if (signal.aborted) return abort();
      signal.addEventListener("abort", abort, { once: true });
      const either = AbortSignal.any([signal, this.over.signal]);
      this.around.fetch(new Request(request, { signal: either })).then(
        (response) => settle(() => resolve(readWithin(response, settle))),
        (error) => settle(() => reject(error)),
      );
    });
  }

  private own(): Values {
    const { window, around } = this;
    const shown = this;
    const error = (type: string, values: readonly unknown[]) =>
      around.trouble(
        `${type}: ${values.map((value) => (typeof value === "string" ? value : Bun.inspect(value))).join(" ")}`,
      );
    const nothing = () => {};
    return {
      fetch: (input: string | URL | Request, init?: RequestInit) => this.fetch(input, init),
      FormData: PageFormData,
      history: around.history,
      localStorage: around.localStorage,
      sessionStorage: around.sessionStorage,
      console: {
        log: nothing,
        info: nothing,
        debug: nothing,
        error: (...values: unknown[]) => error("error", values),
        warn: (...values: unknown[]) => error("warning", values),
      },
      setTimeout: (action: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
        this.after(ms, () => action(...args), false),
      clearTimeout: (id: number) => this.cancel(id),
      setInterval: (action: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
        this.after(ms, () => action(...args), true),
      clearInterval: (id: number) => this.cancel(id),
      requestAnimationFrame: (action: (now: number) => void) =>
        this.after(FRAME_MS, () => action(performance.now()), false),
      cancelAnimationFrame: (id: number) => this.cancel(id),
      queueMicrotask: (action: () => void) => queueMicrotask(() => this.guarded(action)),
      requestIdleCallback: undefined,
      cancelIdleCallback: undefined,
      BroadcastChannel: undefined,
      matchMedia: (query: string) => this.matchMedia(query),
      getComputedStyle: (element: Element, pseudo?: string) => this.styleOf(element, pseudo),
      scrollTo: nothing,
      XPathResult: { ORDERED_NODE_ITERATOR_TYPE: 5 },
      ResizeObserver: class {
        private readonly told: (entries: readonly object[]) => void;
        constructor(told: (entries: readonly object[]) => void) {
          this.told = told;
        }
        observe(target: Element) {
          const contentRect = { width: shown.around.viewport.width, height: CONTENT_HEIGHT };
          shown.after(0, () => this.told([{ target, contentRect }]), false);
        }
        unobserve() {}
        disconnect() {}
      },
      ...(installLayout(window, (element) => this.isShown(element)) ?? {}),
    };
  }

  private matchMedia(query: string) {
    const list = new EventTarget();
    const { viewport } = this.around;
    this.media.add({ query, was: matchesMedia(query, viewport), list });
    return Object.defineProperties(list, {
      media: { value: query },
      matches: { get: () => matchesMedia(query, viewport) },
    });
  }

  private followLink(event: Event): void {
    const link = (event.target as unknown as Element | null)?.closest("a[href]") as HTMLElement | null | undefined;
    if (event.defaultPrevented || !link) return;
    event.preventDefault();
    const url = new URL(link.getAttribute("href") ?? "", this.window.location.href);
    if (url.hash !== "" && url.href.split("#")[0] === this.window.location.href.split("#")[0]) this.setUrl(url.href);
    else this.around.leaveFor(url.href);
  }
}

/** A response whose body can be read only while its document is shown. @param settle does nothing after its end */
function readWithin(response: Response, settle: (action: () => void) => void): Response {
  for (const name of ["json", "text", "blob", "arrayBuffer"] as const) {
    const read: () => Promise<unknown> = response[name].bind(response);
    const value = () =>
      new Promise((resolve, reject) => {
        read().then(
          (body) => settle(() => resolve(body)),
          (error) => settle(() => reject(error)),
        );
      });
    Object.defineProperty(response, name, { value });
  }
  return response;
}

/** `document.evaluate` for the only XPath of the tests. @throws Error for any other */
function evaluatePath(path: string, from: Node): { iterateNext(): Node | null } {
  if (path !== "..") throw new Error(`the pages of tests know no XPath ${path}: only the parent, "..".`);
  const found = [from.parentNode];
  return { iterateNext: () => found.pop() ?? null };
}

const shownBy = new WeakMap<Document, (element: Element) => boolean>();
let hasLayout = false;

/** Nonzero sizes for rendered elements only: the limit without a layout. */
function installLayout(window: Window, isShown: (element: Element) => boolean): void {
  shownBy.set(window.document, isShown);
  if (hasLayout) return;
  hasLayout = true;
  const { prototype } = window.Element;
  const rect = (isThere: boolean) => {
    const [width, height] = isThere ? [100, LINE_HEIGHT] : [0, 0];
    return { x: 0, y: 0, left: 0, top: 0, right: width, bottom: height, width, height };
  };
  const isRendered = (element: Element) => shownBy.get(element.ownerDocument)?.(element) ?? false;
  Object.assign(prototype, {
    getBoundingClientRect(this: Element) {
      return rect(isRendered(this));
    },
    getClientRects(this: Element) {
      return isRendered(this) ? [rect(true)] : [];
    },
    checkVisibility(this: Element) {
      return isRendered(this);
    },
    scrollIntoView() {},
  });
  window.Range.prototype.getBoundingClientRect = function () {
    const { startContainer, startOffset } = this;
    const node = startContainer.childNodes[startOffset];
    return rect((node?.textContent ?? "").trim() !== "") as never;
  };
  const { updateSelectedness } = PropertySymbol;
  const select = window.HTMLSelectElement.prototype as unknown as Record<symbol, (option?: unknown) => void>;
  const update = select[updateSelectedness];
  select[updateSelectedness] = function (this: HTMLSelectElement, option?: unknown) {
    // With several selected, the last one counts; happy-dom goes by index.
    const chosen = this.multiple ? [] : [...this.options].filter(({ selected }) => selected);
    update?.call(this, option ?? (chosen.length > 1 ? chosen.at(-1) : undefined));
  };
  Object.defineProperty(window.HTMLOptionElement.prototype, "label", {
    get(this: Element) {
      return this.getAttribute("label") ?? this.textContent.trim();
    },
    configurable: true,
  });
  Object.defineProperties(prototype, {
    clientHeight: { get: () => CONTENT_HEIGHT, configurable: true },
    clientWidth: { get: () => 1280, configurable: true },
  });
}
