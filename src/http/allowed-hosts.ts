// Host names accepted by the appliance, against DNS rebinding: any site can point its name here, and its page then has
// the same origin; only Host reveals it. Ignores X-Forwarded-Host and everything else in a request.

import { DomainError, invalid } from "../base/errors.ts";
import { parseIp } from "../base/ip.ts";

export interface HostRules {
  /** Whether the listener accepts connections from this machine only. */
  readonly isLoopback: boolean;
  /** Names configured by the operator, in lower case, without a trailing dot. */
  readonly names: readonly string[];
}

export class AllowedHosts {
  private readonly isLoopback: boolean;
  private readonly configured: readonly string[];
  private certified: readonly string[] = [];
  /** The last accepted Host: nearly all requests have the same one. */
  private lastAccepted: string | null = null;

  constructor({ isLoopback, names }: HostRules) {
    this.isLoopback = isLoopback;
    this.configured = names;
  }

  /** @param names DNS names of the certificate for new connections, including wildcards */
  certify(names: readonly string[]): void {
    this.certified = names.map(canonical);
    this.lastAccepted = null;
  }

  /** Whether every name is accepted, because none is configured. */
  get isAny(): boolean {
    return !this.isLoopback && this.configured.length === 0 && this.certified.length === 0;
  }

  /** The missing check, as reported to the operator. */
  get limitations(): ReadonlyArray<typeof HOST_NOT_CHECKED> {
    return this.isAny ? [HOST_NOT_CHECKED] : [];
  }

  /**
   * Call for every request before reading anything else. HTTP/1.0 requests may lack Host: browsers never send them.
   * @throws DomainError validation_failed for several hosts or a malformed one (RFC 9112 section 3.2), host_not_allowed
   */
  require(headers: Headers): void {
    const host = headers.get("host");
    if (host === null || host === this.lastAccepted) return;
    // Bun rejects HTTP/1.1 requests without Host, and joins several Host lines with commas.
    const match = HOST.exec(host);
    if (match === null)
      throw invalid({ path: "/Host", message: "must be given once, as a host with or without a port" });
    if (!this.allows(canonical(match[1] ?? match[2] ?? ""))) throw hostNotAllowed();
    this.lastAccepted = host;
  }

  private allows(name: string): boolean {
    // An address as Host is safe: a page loaded by name has that name in Host.
    if (parseIp(name) !== null || this.isAny || this.configured.includes(name)) return true;
    if (this.isLoopback) return name === "localhost" || name.endsWith(".localhost");
    return this.certified.some((pattern) => matchesPattern(pattern, name));
  }
}

/** 421 (RFC 9110 section 15.5.20). Does not repeat the name, which is untrusted. */
function hostNotAllowed(): DomainError {
  return new DomainError(
    "host_not_allowed",
    "The appliance does not accept the name in Host. Use its IP address, or start it with --host-name NAME; behind a reverse proxy on the same machine that passes its own name, --host-name is needed as well.",
  );
}

const HOST_NOT_CHECKED = {
  code: "host_not_checked",
  message:
    "Requests are accepted under any host name, so that a page whose name points to this machine can use it (DNS " +
    "rebinding): give --host-name NAME, or a TLS certificate with DNS names.",
};

/** RFC 9110 section 7.2 without the comma, which no host name contains; http URIs need a host (section 4.2.1). */
const HOST = /^(?:\[([\da-f:.]+)\]|((?:[\w.~!$&'()*+;=-]|%[\da-f]{2})+))(?::\d{0,5})?$/i;

/** Lower case, without the root dot (comparison by RFC 9525 section 6.3). */
function canonical(name: string): string {
  return name.toLowerCase().replace(/\.$/, "");
}

/**
 * Whether a certificate name matches a host. A wildcard is the whole left-most label and matches one label (RFC 9525
 * section 6.3, RFC 6125 section 6.4.3).
 */
function matchesPattern(pattern: string, name: string): boolean {
  if (!pattern.startsWith("*.")) return pattern === name;
  const dot = name.indexOf(".");
  return dot > 0 && name.slice(dot) === pattern.slice(1);
}
