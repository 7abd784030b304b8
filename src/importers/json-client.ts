// JSON HTTP client: retries while a server is busy, and explains unexpected responses in plain language. Independent of
// the requested data.

import { exceededBound, type JsonBounds } from "../base/json-bounds.ts";
import type { Timers } from "../base/timers.ts";
import { isThisMachine } from "./direct-hosts.ts";
import type { SecretMask } from "./secret-mask.ts";

/** Larger responses are not read: the server is broken or hostile. */
export const RESPONSE_MAX_BYTES = 64 * 1024 * 1024;
/** Limits on the parsed JSON, to prevent gigabytes of objects: these allow a few hundred megabytes. */
export const RESPONSE_BOUNDS: JsonBounds = { depth: 64, containers: 1_000_000, commas: 4_000_000 };
const ATTEMPTS_MAX = 7;
const FIRST_PAUSE_MS = 500;
const PAUSE_MAX_MS = 60_000;
const RESPONSE_TIMEOUT_MS = 180_000;
const TRANSIENT: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** A server cannot be used: `message` is one sentence for the user of the program. */
export class RemoteError extends Error {
  override readonly name = "RemoteError";
}

export interface JsonServer {
  /** Product name for messages: `NetBox`. */
  readonly product: string;
  /** Without a trailing slash. */
  readonly base: string;
  readonly headers: Readonly<Record<string, string>>;
  /** PEM: trusted certificates in addition to those of the system; null if none. */
  readonly ca: string | null;
  readonly timers: Timers;
  /** Masked in every response. */
  readonly secrets: SecretMask;
}

export interface JsonResponse {
  readonly status: number;
  readonly body: unknown;
  /** Characters of the body text. */
  readonly length: number;
}

export class JsonClient {
  private readonly server: JsonServer;
  /** If a server never responded, its address is more likely wrong than the server busy. */
  private hasResponded = false;
  private readonly isDirect: boolean;

  constructor(server: JsonServer) {
    this.server = server;
    this.isDirect = isThisMachine(new URL(server.base).hostname);
  }

  /** URL of a path, for users. */
  urlOf(path: string): string {
    return this.server.base + path;
  }

  /** @throws RemoteError if there is no response or no JSON */
  get(path: string): Promise<JsonResponse> {
    return this.request("GET", path, null, {});
  }

  /**
   * @param headers in addition to those of every request
   * @throws RemoteError like get
   */
  async request(
    method: string,
    path: string,
    body: unknown,
    headers: Readonly<Record<string, string>>,
  ): Promise<JsonResponse> {
    const text = body === null ? null : JSON.stringify(body);
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.attempt(method, path, text, headers);
      if (!("problem" in outcome)) {
        this.hasResponded = true;
        return outcome;
      }
      if (!outcome.isTransient || attempt === ATTEMPTS_MAX)
        throw new RemoteError(this.server.secrets.text(outcome.problem));
      await this.pause(outcome.pauseMs ?? Math.min(PAUSE_MAX_MS, FIRST_PAUSE_MS * 2 ** (attempt - 1)));
    }
  }

  private async attempt(
    method: string,
    path: string,
    body: string | null,
    headers: Readonly<Record<string, string>>,
  ): Promise<JsonResponse | RemoteProblem> {
    const { product, ca, timers } = this.server;
    const url = this.urlOf(path);
    const abort = new AbortController();
    const cancelTimeout = timers.after(RESPONSE_TIMEOUT_MS, () => abort.abort());
    try {
      const response = await fetch(url, {
        method,
        headers: {
          accept: "application/json",
          ...(body === null ? {} : { "content-type": "application/json" }),
          ...this.server.headers,
          ...headers,
        },
        // A redirect would send the token to any host that the server names.
        redirect: "manual",
        // Bun takes a proxy from the environment even for this machine; NO_PROXY covers all others.
        ...(this.isDirect ? { proxy: false } : {}),
        signal: abort.signal,
        ...(body === null ? {} : { body }),
        // Bun's environment variables must not print the token (BUN_CONFIG_VERBOSE_FETCH) or disable certificate checks
        // (NODE_TLS_REJECT_UNAUTHORIZED).
        verbose: false,
        tls: { rejectUnauthorized: true, ...(ca === null ? {} : { ca }) },
      });
      return await this.read(url, response);
    } catch (error) {
      if (abort.signal.aborted)
        return {
          problem: `${product} did not respond to ${url} within ${RESPONSE_TIMEOUT_MS / 1000} s`,
          isTransient: true,
        };
      const reason = error instanceof Error && "code" in error ? String(error.code) : String(error);
      if (CERTIFICATE_PROBLEM.test(reason))
        return {
          problem: `the certificate of ${url} is not trusted (${reason}); give its CA with --ca-file`,
          isTransient: false,
        };
      return { problem: `${product} cannot be reached at ${url} (${reason})`, isTransient: this.hasResponded };
    } finally {
      cancelTimeout();
    }
  }

  private async read(url: string, response: Response): Promise<JsonResponse | RemoteProblem> {
    const { product, secrets } = this.server;
    const { status } = response;
    if (status >= 300 && status < 400) {
      await response.body?.cancel();
      const target = response.headers.get("location") ?? "another address";
      return {
        problem: `${url} redirects to ${onOneLine(secrets.text(target))}; give the target address instead`,
        isTransient: false,
      };
    }
    const text = await readAll(response);
    if (text === null)
      return { problem: `${url} returns more than ${RESPONSE_MAX_BYTES / 1024 / 1024} MiB`, isTransient: false };
    if (TRANSIENT.has(status)) {
      const pauseMs = retryAfterMs(response.headers.get("retry-after"));
      return {
        problem: `${product} is busy: ${url} keeps returning ${status}`,
        isTransient: true,
        ...(pauseMs === null ? {} : { pauseMs }),
      };
    }
    const exceeded = exceededBound(text, RESPONSE_BOUNDS);
    if (exceeded !== null) return { problem: `${url} returns ${EXCEEDED[exceeded]}`, isTransient: false };
    try {
      return { status, body: secrets.parse(text), length: text.length };
    } catch {
      const type = onOneLine(secrets.text(response.headers.get("content-type") ?? "no content type"));
      return {
        problem: `${url} returns ${status} with ${type} instead of JSON; is it the address of a ${product}?`,
        isTransient: false,
      };
    }
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.server.timers.after(ms, resolve);
    });
  }
}

interface RemoteProblem {
  readonly problem: string;
  /** True if it may be temporary. */
  readonly isTransient: boolean;
  /** As requested by the server. */
  readonly pauseMs?: number;
}

const EXCEEDED: Readonly<Record<keyof JsonBounds, string>> = {
  depth: `JSON of arrays and objects more than ${RESPONSE_BOUNDS.depth} deep`,
  containers: `JSON of more than ${RESPONSE_BOUNDS.containers} arrays and objects`,
  commas: `JSON of more than ${RESPONSE_BOUNDS.commas} values`,
};

const CERTIFICATE_PROBLEM = /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)|ALTNAME/;
const TEXT_MAX_LENGTH = 200;

/** Formats text from the server: one line, limited length, no terminal control characters. */
export function onOneLine(text: string): string {
  const truncated = text.length > TEXT_MAX_LENGTH ? `${text.slice(0, TEXT_MAX_LENGTH)}…` : text;
  return truncated.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "\ufffd");
}

/** Parses seconds (RFC 9110 section 10.2.3); null if absent or a date. */
function retryAfterMs(header: string | null): number | null {
  return header !== null && /^\d{1,6}$/.test(header) ? Math.min(PAUSE_MAX_MS, Number(header) * 1000) : null;
}

/** Returns null if the response is too large. */
async function readAll(response: Response): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > RESPONSE_MAX_BYTES) return null;
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}
