// A request as operations get it: what it is called, where it comes from, what makes it the same one when it is
// repeated. Knows no operation.

import { carriesCredential } from "../base/credential-texts.ts";
import type { Issue } from "../base/errors.ts";
import { carriesSecret, decodingsOf } from "./url-secrets.ts";

/** What the log says of a request besides: who acts in it, whose sign-in it is. */
export type LogFields = Record<string, string | null>;

/** What makes a repeated POST the same one. */
export interface Idempotency {
  /** As the caller chose it. */
  readonly key: string;
  /** SHA-256 of the method, the path with its query, and the body. */
  readonly fingerprint: string;
}

export interface RequestContext {
  readonly request: Request;
  readonly requestId: string;
  /** Whether it came by our own TLS: a request without a host does not show it by its URL. */
  readonly isTls: boolean;
  /** The caller's address: the peer's, or what a trusted proxy says. */
  readonly source: string;
  /** Headers that every answer carries. */
  readonly headers: Record<string, string>;
  readonly setCookie: SetCookie;
  /** Added to by whoever learns something that its line in the log is to tell. */
  readonly logFields: LogFields;
  /** Of a write that came with an Idempotency-Key; else null. */
  readonly idempotency: Idempotency | null;
  /** Whether what it asks for may make a transaction. */
  readonly mayTransact: boolean;
  /** Why it writes, as X-Change-Reason says; null where it does not, and of what makes no transaction. */
  readonly reason: string | null;
}

/** Sets a cookie of the answer, whatever the answer becomes. `maxAge` is in seconds; 0 ends the cookie. */
export type SetCookie = (
  name: string,
  value: string,
  options: { readonly maxAge: number; readonly secure: boolean },
) => void;

export interface Call<Actor, P, Q, B, Access = unknown> extends RequestContext {
  readonly actor: Actor;
  /** What the operation asks of its caller. */
  readonly access: Access | "anyone";
  /** Names the actor anew and checks its rights, for an answer that takes its time. @throws DomainError auth_… */
  readonly again: <T>(handle: (actor: Actor) => T) => T;
  readonly params: P;
  readonly query: Q;
  readonly body: B;
  /** Of the body as it came. */
  readonly bodyBytes: number;
}

/** A request as it arrived, before anything is known of who sent it. */
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
   * @param isSecret whether nothing of the answer is to be kept anywhere; `sourceOf` the caller's address, as long as
   * the peer is there
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
    this.headers = answerHeaders(requestId, isSecret, isTls);
  }

  get source(): string {
    this.knownSource ??= this.sourceOf();
    return this.knownSource;
  }
}

/** Whether the answers at a path may hold secrets: sign-in and set-up, keys, credentials. */
export function isSecretPath(path: string): boolean {
  return SECRET_PATH.test(path);
}

const SECRET_PATH = /^\/api\/(?:auth|v1\/auth|v1\/credentials)(?:\/|$)/i;

/**
 * What a page carries besides: for data that no browser renders they change nothing, and each header is felt on the hot
 * paths.
 */
export function pageHeaders(request: Request): Record<string, string> {
  return {
    "x-frame-options": "DENY",
    "cross-origin-resource-policy": "same-origin",
    // Over plain HTTP to a name of the LAN browsers ignore it, and say so on every page.
    ...(isTrustworthy(request) ? { "cross-origin-opener-policy": "same-origin" } : {}),
  };
}

/**
 * Whether the browser trusts where it asks (W3C Secure Contexts section 3.1): over TLS, on this machine, or where it says
 * so itself, as it does through a proxy that speaks TLS: it sends Sec-Fetch headers nowhere else.
 */
function isTrustworthy({ url, headers }: Request): boolean {
  return url.startsWith("https:") || headers.has("sec-fetch-dest") || LOOPBACK.test(url);
}

const LOOPBACK = /^http:\/\/(?:127(?:\.\d+){3}|\[::1\]|(?:[\w-]+\.)*localhost)(?::\d+)?(?:[/?#]|$)/i;

/** What every answer carries. Written out: a literal costs nothing, and this is on every path. */
function answerHeaders(requestId: string, isSecret: boolean, isTls: boolean): Record<string, string> {
  const headers: Record<string, string> = {
    "x-request-id": requestId,
    // An inventory is its owner's alone; but what has not changed need not be sent again.
    "cache-control": isSecret ? "no-store" : "private, no-cache",
    // Compressed for who takes that (content-coding.ts).
    vary: "accept-encoding",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  };
  // By our own socket only (RFC 6797 section 7.2): what a proxy in front promises for its name is the proxy's to say.
  if (isTls) headers["strict-transport-security"] = "max-age=31536000";
  return headers;
}

/**
 * The request's id as the client gave it; null where there is none, or one that no header and no log line should carry.
 */
export function sentRequestId(request: Request): string | null {
  const sent = request.headers.get("x-request-id");
  return sent !== null && SANE_REQUEST_ID.test(sent) && !isSecret(sent) ? sent : null;
}

/** Whether a header that identifies a request holds what identifies a caller, mistakenly and perhaps encoded. */
function isSecret(sent: string): boolean {
  return carriesSecret(sent) || [sent, ...decodingsOf(sent)].some(carriesCredential);
}

/** The Idempotency-Key of a write; null where there is none. */
export function idempotencyKey(request: Request, issues: Issue[]): string | null {
  const key = request.headers.get("idempotency-key");
  if (key !== null && !IDEMPOTENCY_KEY.test(key))
    issues.push({ path: "/Idempotency-Key", message: "must be 1 to 255 visible ASCII characters" });
  else if (key !== null && isSecret(key))
    issues.push({
      path: "/Idempotency-Key",
      message:
        "must not be an API key or a session's token: send keys as Authorization: Bearer nlk_…, and replace this one",
    });
  return key;
}

/** What tells one request from another besides its body. */
export function repeatedAs(request: Request): string {
  return `${request.method} ${pathOf(request.url)}${searchOf(request.url)}`;
}

/** Of operations that set none. */
export const refuseCookie: SetCookie = (name) => {
  throw new Error(`surface: an operation sets the cookie ${name} and does not say so`);
};

/** What follows the path, its question mark included. */
export function searchOf(url: string): string {
  const start = url.indexOf("?");
  if (start < 0) return "";
  const end = url.indexOf("#", start);
  return end < 0 ? url.slice(start) : url.slice(start, end);
}

/** The path of a URL, without what follows it. Of a request without a host the URL is the path alone. */
export function pathOf(url: string): string {
  const start = url.startsWith("/") ? 0 : url.indexOf("/", url.indexOf("://") + 3);
  if (start < 0) return "/";
  const end = url.slice(start).search(/[?#]/);
  return end < 0 ? url.slice(start) : url.slice(start, start + end);
}

const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/;
/** Characters that are safe in a header and in a log line. */
const SANE_REQUEST_ID = /^[A-Za-z0-9._:/+=-]{1,128}$/;
