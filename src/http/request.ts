// Request context for operations: request id, caller address, idempotency fingerprint and common headers. Independent
// of operations.

import { containsCredential } from "../base/credential-detection.ts";
import type { Issue } from "../base/errors.ts";
import { carriesSecret, decodingsOf } from "./url-secrets.ts";

/** Additional log fields of a request: the actor, or the user signing in. */
export type LogFields = Record<string, string | null>;

/** Identity of a retried POST. */
export interface Idempotency {
  /** As chosen by the client. */
  readonly key: string;
  /** SHA-256 of the method, the path with its query, and the body. */
  readonly fingerprint: string;
}

export interface RequestContext {
  readonly request: Request;
  readonly requestId: string;
  /** Whether it arrived over the appliance's own TLS; the URL of a request without Host does not show it. */
  readonly isTls: boolean;
  /** Caller address: the peer, or as reported by a trusted proxy. */
  readonly source: string;
  /** Headers of every response. */
  readonly headers: Record<string, string>;
  readonly setCookie: SetCookie;
  /** Code that learns log-worthy details adds them here. */
  readonly logFields: LogFields;
  /** Set for a write with an Idempotency-Key; else null. */
  readonly idempotency: Idempotency | null;
  /** Whether the operation may create a transaction. */
  readonly mayTransact: boolean;
  /** Reason from X-Change-Reason; null if absent, and for operations without a transaction. */
  readonly reason: string | null;
}

/** Sets a cookie on the response, regardless of its outcome. `maxAge` is in seconds; 0 deletes the cookie. */
export type SetCookie = (
  name: string,
  value: string,
  options: { readonly maxAge: number; readonly secure: boolean },
) => void;

export interface Call<Actor, P, Q, B, Access = unknown> extends RequestContext {
  readonly actor: Actor;
  /** Access rule of the operation. */
  readonly access: Access | "anyone";
  /** Identifies the actor and checks permissions again, for long-running responses. @throws DomainError auth_… */
  readonly again: <T>(handle: (actor: Actor) => T) => T;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** Size of the body as received. */
  readonly bodyBytes: number;
}

/** A received request, before its sender is known. */
export class ReceivedRequest implements RequestContext {
  readonly request: Request;
  readonly requestId: string;
  readonly isTls: boolean;
  readonly setCookie: SetCookie;
  readonly headers: Record<string, string>;
  readonly logFields: LogFields = {};
  readonly idempotency = null;
  readonly mayTransact: boolean = false;
  readonly reason: string | null = null;
  private readonly sourceOf: () => string;
  private knownSource: string | null = null;

  /**
   * @param isSecret whether the response must not be stored anywhere; `sourceOf` the caller address, while the peer is
   * connected
   */
  constructor(
    request: Request,
    requestId: string,
    setCookie: SetCookie,
    isSecret: boolean,
    isTls: boolean,
    sourceOf: () => string,
  ) {
    this.sourceOf = sourceOf;
    this.request = request;
    this.requestId = requestId;
    this.setCookie = setCookie;
    this.isTls = isTls;
    this.headers = responseHeaders(requestId, isSecret, isTls);
  }

  get source(): string {
    this.knownSource ??= this.sourceOf();
    return this.knownSource;
  }
}

/** Whether responses at a path may contain secrets: sign-in and setup, keys, credentials. */
export function isSecretPath(path: string): boolean {
  return SECRET_PATH.test(path);
}

const SECRET_PATH = /^\/api\/(?:auth|v1\/auth|v1\/credentials)(?:\/|$)/i;

/**
 * Additional headers of pages. Data responses omit them: browsers do not render data, and every header costs time on
 * hot paths.
 */
export function pageHeaders(request: Request): Record<string, string> {
  return {
    "x-frame-options": "DENY",
    "cross-origin-resource-policy": "same-origin",
    // Over plain HTTP to a LAN name, browsers ignore this header and log a warning on every page.
    ...(isTrustworthy(request) ? { "cross-origin-opener-policy": "same-origin" } : {}),
  };
}

/**
 * Whether the browser considers the origin trustworthy (W3C Secure Contexts section 3.1): TLS, loopback, or as shown by
 * Sec-Fetch headers, which it sends only to trustworthy origins, such as a proxy with TLS.
 */
function isTrustworthy({ url, headers }: Request): boolean {
  return url.startsWith("https:") || headers.has("sec-fetch-dest") || LOOPBACK.test(url);
}

const LOOPBACK = /^http:\/\/(?:127(?:\.\d+){3}|\[::1\]|(?:[\w-]+\.)*localhost)(?::\d+)?(?:[/?#]|$)/i;

/** Headers of every response. A literal, since it is on every hot path and costs nothing. */
function responseHeaders(requestId: string, isSecret: boolean, isTls: boolean): Record<string, string> {
  const headers: Record<string, string> = {
    "x-request-id": requestId,
    // Inventory data is private to its owner, but unchanged data need not be sent again.
    "cache-control": isSecret ? "no-store" : "private, no-cache",
    // Compressed if the client accepts it (content-coding.ts).
    vary: "accept-encoding",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  };
  // Only over the appliance's own TLS (RFC 6797 section 7.2): a proxy in front decides for its own name.
  if (isTls) headers["strict-transport-security"] = "max-age=31536000";
  return headers;
}

/** The client's X-Request-Id; null if absent or unsafe in headers and log lines. */
export function sentRequestId(request: Request): string | null {
  const sent = request.headers.get("x-request-id");
  return sent !== null && SANE_REQUEST_ID.test(sent) && !isSecret(sent) ? sent : null;
}

/** Whether an identifying header contains a credential by mistake, possibly encoded. */
function isSecret(sent: string): boolean {
  return carriesSecret(sent) || [sent, ...decodingsOf(sent)].some(containsCredential);
}

/** The Idempotency-Key of a write; null without one. */
export function idempotencyKey(request: Request, issues: Issue[]): string | null {
  const key = request.headers.get("idempotency-key");
  if (key !== null && !IDEMPOTENCY_KEY.test(key))
    issues.push({ path: "/Idempotency-Key", message: "must be 1 to 255 visible ASCII characters" });
  else if (key !== null && isSecret(key))
    issues.push({
      path: "/Idempotency-Key",
      message:
        "must not be an API key or a session's token: send keys as Authorization: Bearer nlk_…, and replace the exposed one",
    });
  return key;
}

/** Identifies a request, apart from its body. */
export function retryIdentity(request: Request): string {
  return `${request.method} ${pathOf(request.url)}${searchOf(request.url)}`;
}

/** For operations that set no cookies. */
export const rejectCookie: SetCookie = (name) => {
  throw new Error(`surface: an operation sets the cookie ${name} without declaring it`);
};

/** The query of a URL, including the question mark. */
export function searchOf(url: string): string {
  const start = url.indexOf("?");
  if (start < 0) return "";
  const end = url.indexOf("#", start);
  return end < 0 ? url.slice(start) : url.slice(start, end);
}

/** The path of a URL, without query and fragment. For a request without Host, the URL is only the path. */
export function pathOf(url: string): string {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3);
  if (start < 0) return "/";
  const end = url.slice(start).search(/[?#]/);
  return end < 0 ? url.slice(start) : url.slice(start, start + end);
}

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;
/** Characters that are safe in a header and in a log line. */
const SANE_REQUEST_ID = /^[A-Za-z0-9._:/+=-]{1,128}$/;
