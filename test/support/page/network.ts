// Network between a visitor's pages and the appliances of this process: browser requests, cookies, and the routes of a
// test.

import type { APIResponse, Route as PlaywrightRoute } from "playwright-core";
import { notifyEvent } from "./waiting.ts";

export type Handle = (request: Request) => Promise<Response>;

/** Reachable appliances by origin. */
const appliances = new Map<string, Handle>();
let lastPort = 8_079;

/** @returns an origin unique in this process, and a function that unregisters it */
export function registerAppliance(handle: Handle): { readonly origin: string; readonly unregister: () => void } {
  lastPort += 1;
  const origin = `http://127.0.0.1:${lastPort}`;
  appliances.set(origin, handle);
  return { origin, unregister: () => appliances.delete(origin) };
}

export type UrlPattern = string | RegExp | ((url: URL) => boolean);

/** Handling of a request by a test, as in Playwright. */
export interface Route {
  request(): RoutedRequest;
  continue(): Promise<void>;
  fulfill(response: {
    readonly status?: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly contentType?: string;
    readonly body?: string;
    readonly json?: unknown;
  }): Promise<void>;
  abort(): Promise<void>;
  /** Sends the request, so that the response can be dropped or inspected first. */
  fetch(): Promise<Pick<APIResponse, "status" | "ok" | "text" | "json" | "headers">>;
}

export interface RoutedRequest extends Pick<ReturnType<PlaywrightRoute["request"]>, "url" | "method" | "postData"> {
  headers(): Record<string, string>;
  allHeaders(): Promise<Record<string, string>>;
  postDataJSON(): any;
}

export type RouteHandler = (route: Route) => unknown;

/** Response to `page.request`. */
export type PageResponse = Pick<APIResponse, "status" | "ok" | "text" | "json" | "headers" | "url">;

export interface RequestOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent as it is, anything else as JSON. */
  readonly data?: unknown;
}

interface RouteEntry {
  readonly pattern: UrlPattern;
  readonly handler: RouteHandler;
  readonly times: number | undefined;
  useCount: number;
}

/** Routes of one page. */
export class Routes {
  private list: RouteEntry[] = [];
  private readonly running = new Set<Promise<unknown>>();

  add(pattern: UrlPattern, handler: RouteHandler, times?: number): void {
    this.list.unshift({ pattern, handler, times, useCount: 0 });
  }

  remove(pattern: UrlPattern, handler?: RouteHandler): void {
    this.list = this.list.filter(
      (route) => String(route.pattern) !== String(pattern) || (handler !== undefined && route.handler !== handler),
    );
  }

  /** @param waits whether to wait for running handlers */
  async removeAll(waits: boolean): Promise<void> {
    this.list = [];
    if (waits) await Promise.allSettled(this.running);
  }

  /** @returns the handler for a request; null to pass it through */
  handlerOf(url: string): RouteHandler | null {
    const found = this.list.find(
      ({ pattern, times, useCount }) => (times === undefined || useCount < times) && matchesUrl(pattern, url),
    );
    if (found === undefined) return null;
    found.useCount += 1;
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
  return globPattern(pattern).test(url);
}

function globPattern(pattern: string): RegExp {
  const source = pattern.replaceAll(/\*\*\/|\*\*|\*|[\\^$.|?+()[\]]|\{|\}|,/g, (token) => {
    if (token === "**/") return "(?:(?:.+/)|)";
    if (token === "**") return ".*";
    if (token === "*") return "[^/]*";
    if ("{},".includes(token)) throw new Error(`${pattern}: braces are not supported in page tests.`);
    return `\\${token}`;
  });
  return new RegExp(`^${source}$`);
}

/** Browser headers by the purpose of a request. */
const DEFAULT_HEADERS = {
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
  readonly problems: string[] = [];
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

  /** Sends the request of a document or script. @throws TypeError on a network failure, like a browser's `fetch` */
  async fetch(request: Request, initiator: keyof typeof DEFAULT_HEADERS, routes: Routes): Promise<Response> {
    const { url, method } = request;
    const headers = new Headers(request.headers);
    for (const [name, value] of Object.entries(DEFAULT_HEADERS[initiator]))
      if (!headers.has(name)) headers.set(name, value);
    if (initiator === "document") headers.set("sec-fetch-site", "none");
    else if (!headers.has("accept")) headers.set("accept", "*/*");
    if (initiator === "script" && !["GET", "HEAD"].includes(method)) headers.set("origin", this.origin);
    headers.set("accept-language", "en-US");
    headers.set("user-agent", "Mozilla/5.0 (X11; Linux x86_64) tests");
    for (const listener of this.listeners) listener(url);
    if (!url.startsWith(`${this.origin}/`)) {
      this.problems.push(`requested another host: ${url}`);
      return this.fail("net::ERR_NAME_NOT_RESOLVED");
    }
    const body = ["GET", "HEAD"].includes(method) ? null : await request.text();
    const { signal } = request;
    const send = () => this.send(url, { method, headers, body, signal });
    const handler = routes.handlerOf(url);
    const response = await (handler === null ? send() : handled(handler, { url, method, headers, body }, send));
    if (response === null) return this.fail("net::ERR_FAILED");
    if (response.status >= 400 && !signal.aborted) {
      this.problems.push(`${response.status} for ${url.slice(this.origin.length)}`);
      this.problems.push(
        `error: Failed to load resource: the server responded with a status of ${response.status} (${statusText(response)})`,
      );
    }
    return response;
  }

  /** Sends a test's request by `page.request`: with cookies, without other browser behavior. */
  async requestDirectly(url: string, { method = "GET", headers = {}, data }: RequestOptions): Promise<PageResponse> {
    const sent = new Headers(headers);
    const body = data === undefined ? null : typeof data === "string" ? data : JSON.stringify(data);
    if (body !== null && !sent.has("content-type"))
      sent.set("content-type", typeof data === "string" ? "application/octet-stream" : "application/json");
    return toPageResponse(await this.send(new URL(url, this.origin).href, { method, headers: sent, body }), url);
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
    for (const cookie of response.headers.getSetCookie()) this.storeCookie(cookie);
    notifyEvent();
    return response;
  }

  private storeCookie(cookie: string): void {
    const [pair = "", ...attributes] = cookie.split(";").map((part) => part.trim());
    const equals = pair.indexOf("=");
    const [name, value] = [pair.slice(0, equals), pair.slice(equals + 1)];
    const isExpired = attributes.some((attribute) => /^max-age=(?:0|-\d+)$/i.test(attribute)) || value === "";
    if (isExpired) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }

  private fail(reason: string): never {
    this.problems.push(`error: Failed to load resource: ${reason}`);
    throw new TypeError("Failed to fetch");
  }
}

interface SentRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | null;
}

/** @returns null if the route aborted the request */
function handled(handler: RouteHandler, sent: SentRequest, send: () => Promise<Response>): Promise<Response | null> {
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
      fulfill: async ({ status = 200, headers: headerValues = {}, contentType, body, json }) => {
        const responseHeaders = new Headers(headerValues);
        if (contentType !== undefined) responseHeaders.set("content-type", contentType);
        if (json !== undefined) responseHeaders.set("content-type", "application/json");
        const text = json === undefined ? (body ?? "") : JSON.stringify(json);
        resolve(new Response([204, 304].includes(status) ? null : text, { status, headers: responseHeaders }));
      },
      abort: async () => resolve(null),
      fetch: async () => toPageResponse(await send(), sent.url),
    };
    Promise.resolve(handler(route)).catch(reject);
  });
}

async function toPageResponse(response: Response, url: string): Promise<PageResponse> {
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

function statusText({ status, statusText: text }: Response): string {
  return text || (STATUS_TEXTS[status] ?? "");
}
