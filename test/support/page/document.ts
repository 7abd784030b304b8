// One document of the console: the real script in a separate window, which is its only global scope. The tab provides
// the other browser features. `close` releases everything.

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
import { notifyEvent } from "./waiting.ts";

/** Features that the tab provides to its document. */
export interface DocumentContainer {
  readonly viewport: Viewport;
  readonly localStorage: Storage;
  readonly sessionStorage: Storage;
  readonly history: object;
  /** Responds like a server and a network; the document may be closed by then. */
  fetch(request: Request): Promise<Response>;
  /** Navigates to a URL. */
  navigate(url: string): void;
  /** Records an unexpected failure. */
  reportProblem(sentence: string): void;
}

type Values = Readonly<Record<string, unknown>>;

/** Bun's own implementations: the app accepts and returns these request and response types. */
const NATIVE: Values = {
  ...{ AbortController, AbortSignal, Blob, DOMException, Headers, ReadableStream, Request, Response, TransformStream },
  ...{ TextDecoder, TextDecoderStream, TextEncoder, URL, URLSearchParams, WritableStream, performance, crypto },
};

/** Globals of the language, which a happy-dom window has as well. */
const LANGUAGE_GLOBALS =
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
    (name) => (name in window || name in MISSING_GLOBALS) && !(name in NATIVE) && !LANGUAGE_GLOBALS.test(name),
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
const MISSING_GLOBALS = {
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

export class RenderedDocument {
  readonly window: Window;
  readonly document: Document;
  readonly overlays: Overlays;
  readonly find: Injected;
  private readonly scripts: Scripts;
  private readonly values: readonly unknown[];
  private readonly container: DocumentContainer;
  private readonly closeController = new AbortController();
  /** Functions that cancel the timers. */
  private readonly timers = new Map<number, () => void>();
  private lastTimer = 0;
  private readonly media = new Set<{ readonly query: string; matched: boolean; readonly list: EventTarget }>();

  /** Loads a document without running its script. @param html HTML of the page, without scripts */
  static async load(url: string, html: string, container: DocumentContainer): Promise<RenderedDocument> {
    const { width, height } = container.viewport;
    const window = new Window({ url, width, height, settings: SETTINGS });
    compiled ??= compile(window);
    return new RenderedDocument(window, html, await compiled, container);
  }

  private constructor(window: Window, html: string, scripts: Scripts, container: DocumentContainer) {
    this.window = window;
    this.document = window.document;
    this.scripts = scripts;
    this.container = container;
    this.document.write(html);
    Object.assign(this.document, { evaluate: evaluatePath });
    const pageGlobals = this.pageGlobals();
    for (const [name, value] of Object.entries({ ...NATIVE, ...pageGlobals }))
      Object.defineProperty(window, name, { value, configurable: true, writable: true });
    const location = {
      assign: container.navigate,
      replace: container.navigate,
      reload: () => container.navigate(window.location.href),
    };
    for (const [name, value] of Object.entries(location)) Object.defineProperty(window.location, name, { value });
    // As over plain HTTP: each tab follows the changes separately.
    Object.defineProperty(window.navigator, "locks", { value: undefined });
    this.overlays = new Overlays(window, (element) => this.isVisible(element));
    window.addEventListener("error", (event) => {
      container.reportProblem(`threw: ${(event as Event & { readonly message: string }).message}`);
    });
    const everyChange = { subtree: true, childList: true, characterData: true, attributes: true };
    new window.MutationObserver(notifyEvent).observe(this.document, everyChange);
    const all: Values = { ...pageGlobals, window, self: window, globalThis: window };
    this.values = scripts.names.map((name) => {
      if (name in all) return all[name];
      const value = (window as unknown as Values)[name];
      return typeof value === "function" && !/^[A-Z]/.test(name) ? value.bind(window) : value;
    });
    this.find = scripts.find(...this.values);
  }

  /** Runs the script. */
  start(): void {
    this.runGuarded(() => this.scripts.run(...this.values));
    // Default action, unless prevented.
    this.window.addEventListener("click", (event) => this.followLink(event));
  }

  /** @param code an expression or statements, with the console's globals @returns the code's value or promise */
  evaluate(code: string): unknown {
    return this.scripts.evaluate(...this.values, code);
  }

  /** Sets the URL without loading it. */
  setUrl(url: string): void {
    this.window.happyDOM.setURL(url);
  }

  isVisible(element: Element): boolean {
    return this.document.documentElement.contains(element) && this.hiddenAt(element) === null;
  }

  /** Signals a change to the preferred color scheme. */
  notifyMediaChange(): void {
    for (const media of this.media) {
      const isMatching = matchesMedia(media.query, this.container.viewport);
      if (isMatching !== media.matched)
        media.list.dispatchEvent(Object.assign(new globalThis.Event("change"), { matches: isMatching }));
      media.matched = isMatching;
    }
  }

  /** Signals a storage change by another tab. */
  notifyStorageChange(change: StorageChange): void {
    this.schedule(0, () => this.window.dispatchEvent(Object.assign(new this.window.Event("storage"), change)), false);
  }

  /** Closes the document: no timer fires, and no response arrives. */
  close(): void {
    this.window.dispatchEvent(new this.window.Event("pagehide"));
    this.closeController.abort();
    for (const cancelTimer of this.timers.values()) cancelTimer();
    this.timers.clear();
    void this.window.happyDOM.close();
  }

  /** The nearest unrendered element among an element and its ancestors. */
  private hiddenAt(element: Element): Element | null {
    for (let node: Element | null = element; node !== null; node = node.parentElement) {
      if (this.scripts.styles.displayOf(node, this.container.viewport) === "none") return node;
      const parent = node.parentElement;
      if (parent?.tagName === "DETAILS" && !parent.hasAttribute("open") && node.tagName !== "SUMMARY") return node;
    }
    return null;
  }

  private styleOf(element: Element, pseudo?: string | null) {
    const { styles } = this.scripts;
    const { viewport } = this.container;
    const visibility = () => {
      for (let node: Element | null = element; node !== null; node = node.parentElement) {
        const value = styles.visibilityOf(node, viewport);
        if (value !== null && value !== "inherit") return value;
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

  private runGuarded<T>(action: () => T): T | undefined {
    try {
      return action();
    } catch (error) {
      this.container.reportProblem(`threw: ${error instanceof Error ? error.message : String(error)}`);
      return undefined;
    } finally {
      notifyEvent();
    }
  }

  private schedule(ms: number, action: () => void, repeats: boolean): number {
    const id = ++this.lastTimer;
    const fire = () => {
      if (repeats) this.timers.set(id, systemTimers.after(ms, fire));
      else this.timers.delete(id);
      this.runGuarded(action);
    };
    this.timers.set(id, systemTimers.after(ms, fire));
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
        if (this.closeController.signal.aborted) return;
        action();
        notifyEvent();
      };
      const abort = () => settle(() => reject(signal.reason));
      if (signal.aborted) return abort();
      signal.addEventListener("abort", abort, { once: true });
      const combined = AbortSignal.any([signal, this.closeController.signal]);
      this.container.fetch(new Request(request, { signal: combined })).then(
        (response) => settle(() => resolve(bindToDocument(response, settle))),
        (error) => settle(() => reject(error)),
      );
    });
  }

  private pageGlobals(): Values {
    const { window, container } = this;
    const current = this;
    const error = (type: string, values: readonly unknown[]) =>
      container.reportProblem(
        `${type}: ${values.map((value) => (typeof value === "string" ? value : Bun.inspect(value))).join(" ")}`,
      );
    const noop = () => {};
    return {
      fetch: (input: string | URL | Request, init?: RequestInit) => this.fetch(input, init),
      FormData: PageFormData,
      history: container.history,
      localStorage: container.localStorage,
      sessionStorage: container.sessionStorage,
      console: {
        log: noop,
        info: noop,
        debug: noop,
        error: (...values: unknown[]) => error("error", values),
        warn: (...values: unknown[]) => error("warning", values),
      },
      setTimeout: (action: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
        this.schedule(ms, () => action(...args), false),
      clearTimeout: (id: number) => this.cancel(id),
      setInterval: (action: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
        this.schedule(ms, () => action(...args), true),
      clearInterval: (id: number) => this.cancel(id),
      requestAnimationFrame: (action: (now: number) => void) =>
        this.schedule(FRAME_MS, () => action(performance.now()), false),
      cancelAnimationFrame: (id: number) => this.cancel(id),
      queueMicrotask: (action: () => void) => queueMicrotask(() => this.runGuarded(action)),
      requestIdleCallback: undefined,
      cancelIdleCallback: undefined,
      BroadcastChannel: undefined,
      matchMedia: (query: string) => this.matchMedia(query),
      getComputedStyle: (element: Element, pseudo?: string) => this.styleOf(element, pseudo),
      scrollTo: noop,
      XPathResult: { ORDERED_NODE_ITERATOR_TYPE: 5 },
      ResizeObserver: class {
        private readonly callback: (entries: readonly object[]) => void;
        constructor(callback: (entries: readonly object[]) => void) {
          this.callback = callback;
        }
        observe(target: Element) {
          const contentRect = { width: current.container.viewport.width, height: CONTENT_HEIGHT };
          current.schedule(0, () => this.callback([{ target, contentRect }]), false);
        }
        unobserve() {}
        disconnect() {}
      },
      ...(installLayout(window, (element) => this.isVisible(element)) ?? {}),
    };
  }

  private matchMedia(query: string) {
    const list = new EventTarget();
    const { viewport } = this.container;
    this.media.add({ query, matched: matchesMedia(query, viewport), list });
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
    else this.container.navigate(url.href);
  }
}

/** Response whose body can be read only while its document is shown. @param settle does nothing once it is closed */
function bindToDocument(response: Response, settle: (action: () => void) => void): Response {
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
  if (path !== "..") throw new Error(`XPath ${path} is not supported in page tests: only the parent, "..".`);
  const found = [from.parentNode];
  return { iterateNext: () => found.pop() ?? null };
}

const visibilityTests = new WeakMap<Document, (element: Element) => boolean>();
let hasLayout = false;

/** Gives rendered elements a nonzero size, and others none: all that is known without a layout. */
function installLayout(window: Window, isVisible: (element: Element) => boolean): void {
  visibilityTests.set(window.document, isVisible);
  if (hasLayout) return;
  hasLayout = true;
  const { prototype } = window.Element;
  const rect = (hasSize: boolean) => {
    const [width, height] = hasSize ? [100, LINE_HEIGHT] : [0, 0];
    return { x: 0, y: 0, left: 0, top: 0, right: width, bottom: height, width, height };
  };
  const isRendered = (element: Element) => visibilityTests.get(element.ownerDocument)?.(element) ?? false;
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
    // If several are selected, the last one counts; happy-dom goes by index.
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
