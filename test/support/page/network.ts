// Network between a visitor's pages and the appliances of this process: browser requests, cookies, and the routes of a
// test.

import type { APIResponse, Route as PlaywrightRoute } from "playwright-core";
import { stirred } from "./waiting.ts";

export type Handle = (request: Request) => Promise<Response>;

/** Reachable appliances by origin. */
const appliances = new Map<string, Handle>();
let lastPort = 8_079;

/** @returns an origin unique in this process, and its removal */
export function putOnNetwork(handle: Handle): { readonly origin: string; readonly end: () => void } {
  lastPort += 1;
  const origin = `http://127.0.0.1:${lastPort}`;
  appliances.set(origin, handle);
  return { origin, end: () => appliances.delete(origin) };
}

export type UrlPattern = string | RegExp | ((url: URL) => boolean);

/** Handling of a request by a test, as in Playwright. */
export interface Route {
  request(): RoutedRequest;
  continue(): Promise<void>;
  fulfill(answer: {
    readonly status?: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly contentType?: string;
    readonly body?: string;
    readonly json?: unknown;
  }): Promise<void>;
  abort(): Promise<void>;
  /** Sends it, so that the answer can be dropped or inspected first. */
  fetch(): Promise<Pick<APIResponse, "status" | "ok" | "text" | "json" | "headers">>;
}

export interface RoutedRequest extends Pick<ReturnType<PlaywrightRoute["request"]>, "url" | "method" | "postData"> {
  headers(): Record<string, string>;
  allHeaders(): Promise<Record<string, string>>;
  postDataJSON(): any;
}

export type RouteHandler = (route: Route) => unknown;

/** Answer to `page.request`. */
export type Told = Pick<APIResponse, "status" | "ok" | "text" | "json" | "headers" | "url">;

export interface SentOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text as is, anything else as JSON. */
  readonly data?: unknown;
}

interface Routed {
  readonly pattern: UrlPattern;
  readonly handler: RouteHandler;
  readonly times: number | undefined;
  used: number;
}

/** Routes of one page. */
export class Routes {
  private list: Routed[] = [];
  private readonly running = new Set<Promise<unknown>>();

  add(pattern: UrlPattern, handler: RouteHandler, times?: number): void {
    this.list.unshift({ pattern, handler, times, used: 0 });
  }

  remove(pattern: UrlPattern, handler?: RouteHandler): void {
    this.list = this.list.filter(
      (each) => String(each.pattern) !== String(pattern) || (handler !== undefined && each.handler !== handler),
    );
  }

  /** @param waits whether to wait for running handlers */
  async removeAll(waits: boolean): Promise<void> {
    this.list = [];
    if (waits) await Promise.allSettled(this.running);
  }

  /** @returns handler of a request; null to pass it through */
  handlerOf(url: string): RouteHandler | null {
    const found = this.list.find(
      ({ pattern, times, used }) => (times === undefined || used < times) && matchesUrl(pattern, url),
    );
    if (found === undefined) return null;
    found.used += 1;
    return (route) => {
      const handled = Promise.resolve(found.handler(route)).finally(() => this.running.delete(handled));
      this.running.add(handled);
      return handled;
    };
  }
}

/** Whether a URL matches a Playwright pattern. */
export function matchesUrl(pattern: UrlPattern, url: string): boolean {
  if (typeof pattern === "function") return pattern(new URL(url));
  if (pattern instanceof RegExp) return pattern.test(url);
  return globOf(pattern).test(url);
}

function globOf(pattern: string): RegExp {
  const source = pattern.replaceAll(/\*\*\/|\*\*|\*|[\\^$.|?+()[\]]|\{|\}|,/g, (sign) => {
    if (sign === "**/") return "(?:(?:.+/)|)";
    if (sign === "**") return ".*";
    if (sign === "*") return "[^/]*";
    if ("{},".includes(sign)) throw new Error(`${pattern}: braces are not for the pages of tests.`);
    return `\\${sign}`;
  });
  return new RegExp(`^${source}$`);
}

/** Browser headers by the purpose of a request. */
const SENT_BY = {
  document: {
    accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "sec-fetch-dest": "document",
    "sec-fetch-mode": "navigate",
    "sec-fetch-user": "?1",
  },
  script: { "sec-fetch-dest": "empty", "sec-fetch-mode": "cors", "sec-fetch-site": "same-origin" },
} as const;

/** One browser's side of the network: its cookies, requests and failures. */
export class Network {
  readonly troubles: string[] = [];
  private readonly origin: string;
  private readonly cookies = new Map<string, string>();
  private readonly listeners = new Set<(url: string) => void>();

  constructor(origin: string) {
    this.origin = origin;
  }

  /** Reports the URL of each request from now on. */
  onRequest(listener: (url: string) => void): void {
    this.listeners.add(listener);
  }

  clearCookies(): void {
    this.cookies.clear();
  }

  setCookie(name: string, value: string): void {
    this.cookies.set(name, value);
  }

  /** Request of a document or its script. @throws TypeError on a network failure, like a browser's `fetch` */
  async ask(request: Request, by: keyof typeof SENT_BY, routes: Routes): Promise<Response> {
    const { url, method } = request;
    const headers = new Headers(request.headers);
    for (const [name, value] of Object.entries(SENT_BY[by])) if (!headers.has(name)) headers.set(name, value);
    if (by === "document") headers.set("sec-fetch-site", "none");
    else if (!headers.has("accept")) headers.set("accept", "*/*");
    if (by === "script" && !["GET", "HEAD"].includes(method)) headers.set("origin", this.origin);
    headers.set("accept-language", "en-US");
    headers.set("user-agent", "Mozilla/5.0 (X11; Linux x86_64) tests");
    for (const listener of this.listeners) listener(url);
    if (!url.startsWith(`${this.origin}/`)) {
      this.troubles.push(`asked another host: ${url}`);
      return this.lost("net::ERR_NAME_NOT_RESOLVED");
    }
    const body = ["GET", "HEAD"].includes(method) ? null : await request.text();
    const { signal } = request;
    const send = () => this.send(url, { method, headers, body, signal });
    const handler = routes.handlerOf(url);
    const response = await (handler === null ? send() : handled(handler, { url, method, headers, body }, send));
    if (response === null) return this.lost("net::ERR_FAILED");
    if (response.status >= 400 && !signal.aborted) {
      this.troubles.push(`${response.status} for ${url.slice(this.origin.length)}`);
      this.troubles.push(
        `error: Failed to load resource: the server responded with a status of ${response.status} (${statusText(response)})`,
      );
    }
    return response;
  }

  /** Request of a test by `page.request`: with cookies, without other browser behavior. */
  async tell(url: string, { method = "GET", headers = {}, data }: SentOptions): Promise<Told> {
    const sent = new Headers(headers);
    const body = data === undefined ? null : typeof data === "string" ? data : JSON.stringify(data);
    if (body !== null && !sent.has("content-type"))
      sent.set("content-type", typeof data === "string" ? "application/octet-stream" : "application/json");
    return told(await this.send(new URL(url, this.origin).href, { method, headers: sent, body }), url);
  }

  private async send(
    url: string,
    init: { method: string; headers: Headers; body: string | null; signal?: AbortSignal },
  ): Promise<Response> {
    const handle = appliances.get(new URL(url).origin);
    if (handle === undefined) throw new TypeError("Failed to fetch");
    const headers = new Headers(init.headers);
    headers.set("host", new URL(url).host);
    if (this.cookies.size > 0)
      headers.set("cookie", [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; "));
    const response = await handle(new Request(url, { ...init, headers }));
    for (const cookie of response.headers.getSetCookie()) this.keep(cookie);
    stirred();
    return response;
  }

  private keep(cookie: string): void {
    const [pair = "", ...attributes] = cookie.split(";").map((part) => part.trim());
    const equals = pair.indexOf("=");
    const [name, value] = [pair.slice(0, equals), pair.slice(equals + 1)];
    const isOver = attributes.some((each) => /^max-age=(?:0|-\d+)$/i.test(each)) || value === "";
    if (isOver) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }

  private lost(why: string): never {
    this.troubles.push(`error: Failed to load resource: ${why}`);
    throw new TypeError("Failed to fetch");
  }
}

interface Sent {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | null;
}

/** @returns null if the route aborted the request */
function handled(handler: RouteHandler, sent: Sent, send: () => Promise<Response>): Promise<Response | null> {
  return new Promise((resolve, reject) => {
    const headers = () => Object.fromEntries(sent.headers);
    const route: Route = {
      request: () => ({
        url: () => sent.url,
        method: () => sent.method,
        postData: () => sent.body,
        postDataJSON: () => (sent.body === null ? null : JSON.parse(sent.body)),
        headers,
        allHeaders: async () => headers(),
      }),
      continue: () => send().then(resolve, reject),
      fulfill: async ({ status = 200, headers: given = {}, contentType, body, json }) => {
        const all = new Headers(given);
        if (contentType !== undefined) all.set("content-type", contentType);
        if (json !== undefined) all.set("content-type", "application/json");
        const said = json === undefined ? (body ?? "") : JSON.stringify(json);
        resolve(new Response([204, 304].includes(status) ? null : said, { status, headers: all }));
      },
      abort: async () => resolve(null),
      fetch: async () => told(await send(), sent.url),
    };
    Promise.resolve(handler(route)).catch(reject);
  });
}

async function told(response: Response, url: string): Promise<Told> {
  const text = await response.text();
  return {
    status: () => response.status,
    ok: () => response.ok,
    url: () => url,
    headers: () => Object.fromEntries(response.headers),
    text: async () => text,
    json: async () => JSON.parse(text),
  };
}

const STATUS_TEXTS: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  412: "Precondition Failed",
  413: "Payload Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Entity",
  428: "Precondition Required",
  429: "Too Many Requests",
  500: "Internal Server Error",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

function statusText({ status, statusText: said }: Response): string {
  return said || (STATUS_TEXTS[status] ?? "");
}
