// Browser tab in the test process, with the part of Playwright's page interface that the console's tests use. It shows
// one document at a time.

import type { Element } from "happy-dom";
import type { Page as Full } from "playwright-core";
import { builtConsole } from "./built-console.ts";
import { RenderedDocument } from "./document.ts";
import { Locator, LocatorScope } from "./locator.ts";
import {
  matchesUrl,
  type Network,
  type PageResponse,
  type RequestOptions,
  type RouteHandler,
  Routes,
  type UrlPattern,
} from "./network.ts";
import { newStorage, type SharedStorage } from "./storage.ts";
import type { Viewport } from "./styles.ts";
import { UserInput } from "./user-input.ts";
import { notifyEvent, until } from "./waiting.ts";

const WINDOW_SIZE = { width: 1280, height: 800 };

/** Maximum length of the page text in an error. */
const MAX_DESCRIPTION_LENGTH = 1_500;

/** A page's request and response: the part of Playwright's interface that the tests use. */
interface SentRequest {
  url(): string;
  method(): string;
}
interface ReceivedResponse {
  url(): string;
  status(): number;
  ok(): boolean;
}

interface Entry {
  readonly url: string;
  readonly state: unknown;
  /** Number of the document that created the entry. Navigating to an entry of an earlier document loads a new one. */
  readonly document: number;
}

export class Page extends LocatorScope {
  readonly input: UserInput;
  readonly keyboard: Pick<Full["keyboard"], "press" | "down" | "up" | "type" | "insertText">;
  /** Requests with the visitor's cookies, outside the page. */
  readonly request: Readonly<
    Record<
      "get" | "post" | "put" | "delete" | "fetch",
      (url: string, options?: RequestOptions) => Promise<PageResponse>
    >
  >;
  private readonly network: Network;
  private readonly localStorage: Storage;
  private readonly sessionStorage = newStorage();
  private readonly routes = new Routes();
  private readonly onRequest = new Set<(request: SentRequest) => void>();
  private readonly onResponse = new Set<(response: ReceivedResponse) => void>();
  private readonly viewport: { -readonly [P in keyof Viewport]: Viewport[P] } = {
    ...WINDOW_SIZE,
    colorScheme: "light",
  };
  private entries: Entry[] = [];
  private position = -1;
  private documents = 0;
  private current: RenderedDocument | null = null;
  private isClosed = false;
  /** Pending load of a document. */
  private loading: Promise<void> | null = null;

  /** @param localStorage storage shared by all tabs of the visitor */
  constructor(network: Network, localStorage: SharedStorage) {
    super();
    this.network = network;
    this.localStorage = localStorage.forTab((change) => this.current?.notifyStorageChange(change));
    this.input = new UserInput(() => this.rendered);
    this.keyboard = {
      press: async (key) => this.input.press(key),
      down: async (key) => this.input.down(key),
      up: async (key) => this.input.up(key),
      type: async (text) => this.input.type(text),
      insertText: async (text) => this.input.insert(text),
    };
    const sendWith =
      (method?: string) =>
      (url: string, options: RequestOptions = {}) =>
        network.requestDirectly(url, method === undefined ? options : { ...options, method });
    this.request = {
      get: sendWith("GET"),
      post: sendWith("POST"),
      put: sendWith("PUT"),
      delete: sendWith("DELETE"),
      fetch: sendWith(),
    };
  }

  protected override below(selector: string): Locator {
    return new Locator(this, selector);
  }

  /** The current document. @throws Error before the first one */
  get rendered(): RenderedDocument {
    if (this.current === null) throw new Error("the page has no document yet.");
    return this.current;
  }

  /** Loads a URL as if typed. */
  async goto(url: string): Promise<void> {
    this.closeDocument();
    this.entries.splice(this.position + 1);
    this.entries.push({ url, state: null, document: 0 });
    this.position += 1;
    await this.load();
  }

  async reload(): Promise<void> {
    await this.load();
  }

  async goBack(): Promise<void> {
    await this.goTo(this.position - 1);
  }

  async goForward(): Promise<void> {
    await this.goTo(this.position + 1);
  }

  url(): string {
    return this.entries[this.position]?.url ?? "about:blank";
  }

  /** For timeout messages. */
  description(): string {
    const texts: string[] = [];
    const read = (element: Element) => {
      if (/^(?:OPTION|DATALIST|SCRIPT|NOSCRIPT)$/.test(element.tagName)) return;
      for (const node of element.childNodes)
        if (node.nodeType === node.TEXT_NODE) texts.push(node.textContent ?? "");
        else if (node.nodeType === node.ELEMENT_NODE) read(node as Element);
    };
    if (this.current !== null) read(this.current.document.querySelector("main") ?? this.current.document.body);
    return `${this.url()} shows: ${texts.join(" ").slice(0, MAX_DESCRIPTION_LENGTH)}\n${this.network.problems.join("\n")}`;
  }

  async title(): Promise<string> {
    return this.rendered.document.title;
  }

  async waitForURL(pattern: UrlPattern): Promise<void> {
    await until(
      () => matchesUrl(pattern, this.url()) || undefined,
      () => `the URL ${pattern}; ${this.description()}`,
    );
    await this.loading;
  }

  /** The next request that matches a pattern. */
  waitForRequest(pattern: string | RegExp | ((request: SentRequest) => boolean)): Promise<SentRequest> {
    return this.next("request", this.onRequest, pattern);
  }

  /** The next response that matches a pattern; the script may not have received it yet. */
  waitForResponse(pattern: string | RegExp | ((response: ReceivedResponse) => boolean)): Promise<ReceivedResponse> {
    return this.next("response", this.onResponse, pattern);
  }

  /** The whole document as HTML. */
  async content(): Promise<string> {
    return `<!DOCTYPE html>${this.rendered.document.documentElement.outerHTML}`;
  }

  /** @param code an expression, whose value may be a promise */
  async evaluate<R = any>(code: string): Promise<R> {
    return (await this.rendered.evaluate(code)) as R;
  }

  /** @param handler takes precedence over earlier ones */
  async route(pattern: UrlPattern, handler: RouteHandler, { times }: { readonly times?: number } = {}): Promise<void> {
    this.routes.add(pattern, handler, times);
  }

  async unroute(pattern: UrlPattern, handler?: RouteHandler): Promise<void> {
    this.routes.remove(pattern, handler);
  }

  async unrouteAll({ behavior }: NonNullable<Parameters<Full["unrouteAll"]>[0]> = {}): Promise<void> {
    await this.routes.removeAll(behavior === "wait");
  }

  async emulateMedia({ colorScheme }: { readonly colorScheme: Viewport["colorScheme"] }): Promise<void> {
    this.viewport.colorScheme = colorScheme;
    this.current?.notifyMediaChange();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.closeDocument();
  }

  private async next<T extends { url(): string }>(
    kind: string,
    listeners: Set<(message: T) => void>,
    pattern: string | RegExp | ((message: T) => boolean),
  ): Promise<T> {
    let found: T | undefined;
    const listener = (message: T) => {
      const isMatch = typeof pattern === "function" ? pattern(message) : matchesUrl(pattern, message.url());
      if (isMatch) found ??= message;
    };
    listeners.add(listener);
    try {
      return await until(
        () => found,
        () => `a ${kind} ${pattern}; ${this.description()}`,
      );
    } finally {
      listeners.delete(listener);
    }
  }

  private async fetch(request: Request, initiator: "document" | "script"): Promise<Response> {
    const { url, method } = request;
    for (const listener of this.onRequest) listener({ url: () => url, method: () => method });
    notifyEvent();
    const response = await this.network.fetch(request, initiator, this.routes);
    const { status, ok } = response;
    for (const listener of this.onResponse) listener({ url: () => url, status: () => status, ok: () => ok });
    return response;
  }

  /** Call it before the URL changes: the document may still change its own URL. */
  private closeDocument(): void {
    this.current?.close();
    this.current = null;
  }

  /** History API of a document. */
  private history(document: number): object {
    const page = this;
    const put = (isNew: boolean, state: unknown, url?: string | URL | null) => {
      // A closed document has no URL.
      if (document !== page.documents || page.current === null) return;
      const href = new URL(url ?? page.url(), page.url()).href;
      if (isNew) {
        page.entries.splice(page.position + 1);
        page.position += 1;
      }
      page.entries[page.position] = { url: href, state: structuredClone(state), document };
      page.rendered.setUrl(href);
      notifyEvent();
    };
    return {
      get state() {
        return page.entries[page.position]?.state ?? null;
      },
      get length() {
        return page.entries.length;
      },
      scrollRestoration: "auto",
      pushState: (state: unknown, _: string, url?: string | URL) => put(true, state, url),
      replaceState: (state: unknown, _: string, url?: string | URL) => put(false, state, url),
      back: () => void page.goBack(),
      forward: () => void page.goForward(),
      go: (delta: number) => void page.goTo(page.position + delta),
    };
  }

  private async goTo(index: number): Promise<void> {
    const entry = this.entries[index];
    if (entry === undefined) return;
    if (entry.document !== this.documents) this.closeDocument();
    this.position = index;
    if (entry.document !== this.documents) return this.load();
    this.rendered.setUrl(entry.url);
    const { PopStateEvent, dispatchEvent } = this.rendered.window;
    dispatchEvent.call(this.rendered.window, new PopStateEvent("popstate", { state: entry.state as object }));
    notifyEvent();
  }

  private load(): Promise<void> {
    this.loading = this.loadDocument();
    return this.loading;
  }

  private async loadDocument(): Promise<void> {
    this.closeDocument();
    const document = ++this.documents;
    const url = this.url();
    const response = await this.fetch(new Request(url), "document");
    const html = await response.text();
    await builtConsole();
    // Another navigation has started since.
    if (document !== this.documents || this.isClosed) return;
    const state = this.entries[this.position]?.state ?? null;
    this.entries[this.position] = { url, state, document };
    const ifCurrent =
      <A extends unknown[]>(action: (...args: A) => void) =>
      (...args: A) => {
        if (document === this.documents) action(...args);
      };
    this.current = await RenderedDocument.load(url, html, {
      viewport: this.viewport,
      localStorage: this.localStorage,
      sessionStorage: this.sessionStorage,
      history: this.history(document),
      fetch: (request) => this.fetch(request, "script"),
      navigate: ifCurrent(
        (href) => void (href === this.url() ? this.reload() : this.goto(new URL(href, this.url()).href)),
      ),
      reportProblem: ifCurrent((sentence) => this.network.problems.push(sentence)),
    });
    this.current.start();
    notifyEvent();
  }
}
