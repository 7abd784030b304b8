// Browser tab in the test process, with the part of Playwright's page interface that the console's tests use. It shows
// one document at a time.

import type { Element } from "happy-dom";
import type { Page as Full } from "playwright-core";
import { builtConsole } from "./built-console.ts";
import { ShownDocument } from "./document.ts";
import { Hands } from "./hands.ts";
import { Locator, Place } from "./locator.ts";
import {
  matchesUrl,
  type Network,
  type RouteHandler,
  Routes,
  type SentOptions,
  type Told,
  type UrlPattern,
} from "./network.ts";
import { newStorage, type SharedStorage } from "./storage.ts";
import type { Viewport } from "./styles.ts";
import { stirred, until } from "./waiting.ts";

const WINDOW = { width: 1280, height: 800 };

/** Maximum length of the page text in an error. */
const DESCRIBED_MAX = 1_500;

/** A request of a page and its answer: the used part of Playwright's interface. */
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
  /** Document that created the entry; navigation to an entry of an earlier document loads a new one. */
  readonly document: number;
}

export class Page extends Place {
  readonly hands: Hands;
  readonly keyboard: Pick<Full["keyboard"], "press" | "down" | "up" | "type" | "insertText">;
  /** Requests with the visitor's cookies, outside the page. */
  readonly request: Readonly<
    Record<"get" | "post" | "put" | "delete" | "fetch", (url: string, options?: SentOptions) => Promise<Told>>
  >;
  private readonly network: Network;
  private readonly localStorage: Storage;
  private readonly sessionStorage = newStorage();
  private readonly routes = new Routes();
  private readonly onRequest = new Set<(request: SentRequest) => void>();
  private readonly onResponse = new Set<(response: ReceivedResponse) => void>();
  private readonly viewport: { -readonly [P in keyof Viewport]: Viewport[P] } = { ...WINDOW, colorScheme: "light" };
  private entries: Entry[] = [];
  private at = -1;
  private documents = 0;
  private current: ShownDocument | null = null;
  private isClosed = false;
  /** While another document loads. */
  private loading: Promise<void> | null = null;

  /** @param localStorage of all tabs of the visitor */
  constructor(network: Network, localStorage: SharedStorage) {
    super();
    this.network = network;
    this.localStorage = localStorage.ofTab((change) => this.current?.storageChanged(change));
    this.hands = new Hands(() => this.shown);
    this.keyboard = {
      press: async (key) => this.hands.press(key),
      down: async (key) => this.hands.down(key),
      up: async (key) => this.hands.up(key),
      type: async (text) => this.hands.type(text),
      insertText: async (text) => this.hands.insert(text),
    };
    const asks =
      (method?: string) =>
      (url: string, options: SentOptions = {}) =>
        network.tell(url, method === undefined ? options : { ...options, method });
    this.request = { get: asks("GET"), post: asks("POST"), put: asks("PUT"), delete: asks("DELETE"), fetch: asks() };
  }

  protected override below(selector: string): Locator {
    return new Locator(this, selector);
  }

  /** The current document. @throws Error before the first one */
  get shown(): ShownDocument {
    if (this.current === null) throw new Error("the page shows nothing yet.");
    return this.current;
  }

  /** Loads an address as if typed; a change of the fragment only does not load. */
  async goto(url: string): Promise<void> {
    this.endDocument();
    this.entries.splice(this.at + 1);
    this.entries.push({ url, state: null, document: 0 });
    this.at += 1;
    await this.load();
  }

  async reload(): Promise<void> {
    await this.load();
  }

  async goBack(): Promise<void> {
    await this.goTo(this.at - 1);
  }

  async goForward(): Promise<void> {
    await this.goTo(this.at + 1);
  }

  url(): string {
    return this.entries[this.at]?.url ?? "about:blank";
  }

  /** For timeout messages. */
  description(): string {
    const said: string[] = [];
    const read = (element: Element) => {
      if (/^(?:OPTION|DATALIST|SCRIPT|NOSCRIPT)$/.test(element.tagName)) return;
      for (const node of element.childNodes)
        if (node.nodeType === node.TEXT_NODE) said.push(node.textContent ?? "");
        else if (node.nodeType === node.ELEMENT_NODE) read(node as Element);
    };
    if (this.current !== null) read(this.current.document.querySelector("main") ?? this.current.document.body);
    return `${this.url()} shows: ${said.join(" ").slice(0, DESCRIBED_MAX)}\n${this.network.troubles.join("\n")}`;
  }

  async title(): Promise<string> {
    return this.shown.document.title;
  }

  async waitForURL(pattern: UrlPattern): Promise<void> {
    await until(
      () => matchesUrl(pattern, this.url()) || undefined,
      () => `the address ${pattern}; ${this.description()}`,
    );
    await this.loading;
  }

  /** The next request that matches a pattern. */
  waitForRequest(pattern: string | RegExp | ((request: SentRequest) => boolean)): Promise<SentRequest> {
    return this.next("request", this.onRequest, pattern);
  }

  /** The next answer that matches a pattern; the script may not have received it yet. */
  waitForResponse(pattern: string | RegExp | ((response: ReceivedResponse) => boolean)): Promise<ReceivedResponse> {
    return this.next("response", this.onResponse, pattern);
  }

  /** The whole document as HTML. */
  async content(): Promise<string> {
    return `<!DOCTYPE html>${this.shown.document.documentElement.outerHTML}`;
  }

  /** @param code an expression, whose value may be a promise */
  async evaluate<R = any>(code: string): Promise<R> {
    return (await this.shown.evaluate(code)) as R;
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
    this.current?.mediaChanged();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.endDocument();
  }

  private async next<T extends { url(): string }>(
    kind: string,
    listeners: Set<(each: T) => void>,
    pattern: string | RegExp | ((each: T) => boolean),
  ): Promise<T> {
    let found: T | undefined;
    const look = (each: T) => {
      const isMeant = typeof pattern === "function" ? pattern(each) : matchesUrl(pattern, each.url());
      if (isMeant) found ??= each;
    };
    listeners.add(look);
    try {
      return await until(
        () => found,
        () => `a ${kind} ${pattern}; ${this.description()}`,
      );
    } finally {
      listeners.delete(look);
    }
  }

  private async ask(request: Request, by: "document" | "script"): Promise<Response> {
    const { url, method } = request;
    for (const look of this.onRequest) look({ url: () => url, method: () => method });
    stirred();
    const response = await this.network.ask(request, by, this.routes);
    const { status, ok } = response;
    for (const look of this.onResponse) look({ url: () => url, status: () => status, ok: () => ok });
    return response;
  }

  /** Before the address changes: the document may still write its own. */
  private endDocument(): void {
    this.current?.end();
    this.current = null;
  }

  /** Effects of the history API on the address while a document is shown. */
  private history(document: number): object {
    const page = this;
    const put = (isNew: boolean, state: unknown, url?: string | URL | null) => {
      // An ended document has no address.
      if (document !== page.documents || page.current === null) return;
      const href = new URL(url ?? page.url(), page.url()).href;
      if (isNew) {
        page.entries.splice(page.at + 1);
        page.at += 1;
      }
      page.entries[page.at] = { url: href, state: structuredClone(state), document };
      page.shown.setUrl(href);
      stirred();
    };
    return {
      get state() {
        return page.entries[page.at]?.state ?? null;
      },
      get length() {
        return page.entries.length;
      },
      scrollRestoration: "auto",
      pushState: (state: unknown, _: string, url?: string | URL) => put(true, state, url),
      replaceState: (state: unknown, _: string, url?: string | URL) => put(false, state, url),
      back: () => void page.goBack(),
      forward: () => void page.goForward(),
      go: (by: number) => void page.goTo(page.at + by),
    };
  }

  private async goTo(index: number): Promise<void> {
    const entry = this.entries[index];
    if (entry === undefined) return;
    if (entry.document !== this.documents) this.endDocument();
    this.at = index;
    if (entry.document !== this.documents) return this.load();
    this.shown.setUrl(entry.url);
    const { PopStateEvent, dispatchEvent } = this.shown.window;
    dispatchEvent.call(this.shown.window, new PopStateEvent("popstate", { state: entry.state as object }));
    stirred();
  }

  private load(): Promise<void> {
    this.loading = this.reallyLoad();
    return this.loading;
  }

  private async reallyLoad(): Promise<void> {
    this.endDocument();
    const document = ++this.documents;
    const url = this.url();
    const response = await this.ask(new Request(url), "document");
    const html = await response.text();
    await builtConsole();
    // Another navigation has started since.
    if (document !== this.documents || this.isClosed) return;
    const state = this.entries[this.at]?.state ?? null;
    this.entries[this.at] = { url, state, document };
    const isOf =
      <A extends unknown[]>(action: (...args: A) => void) =>
      (...args: A) => {
        if (document === this.documents) action(...args);
      };
    this.current = await ShownDocument.load(url, html, {
      viewport: this.viewport,
      localStorage: this.localStorage,
      sessionStorage: this.sessionStorage,
      history: this.history(document),
      fetch: (request) => this.ask(request, "script"),
      leaveFor: isOf((to) => void (to === this.url() ? this.reload() : this.goto(new URL(to, this.url()).href))),
      trouble: isOf((sentence) => this.network.troubles.push(sentence)),
    });
    this.current.start();
    stirred();
  }
}
