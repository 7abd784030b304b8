// Names that the appliance answers to. A page of any site can have its name lead here (DNS rebinding) and is of the same
// origin then: only Host shows whose page asks. Believes no X-Forwarded-Host, and looks at nothing else of a request.

import { DomainError, invalid } from "../base/errors.ts";
import { parseIp } from "../base/ip.ts";

export interface HostRules {
  /** Whether only this machine can connect. */
  readonly isLoopback: boolean;
  /** Those that the operator has named, in lower case, without a dot at the end. */
  readonly names: readonly string[];
}

export class AllowedHosts {
  private readonly isLoopback: boolean;
  private readonly named: readonly string[];
  private certified: readonly string[] = [];
  /** The Host that was allowed last: nearly every request has the same one. */
  private known: string | null = null;

  constructor({ isLoopback, names }: HostRules) {
    this.isLoopback = isLoopback;
    this.named = names;
  }

  /** @param names DNS names of the certificate that new connections get, wildcards included */
  certify(names: readonly string[]): void {
    this.certified = names.map(canonical);
    this.known = null;
  }

  /** Whether every name is allowed, since nobody has said which ones are right. */
  get isAny(): boolean {
    return !this.isLoopback && this.named.length === 0 && this.certified.length === 0;
  }

  /** For the operator: what is not checked. */
  get limitations(): ReadonlyArray<typeof HOST_NOT_CHECKED> {
    return this.isAny ? [HOST_NOT_CHECKED] : [];
  }

  /**
   * To be asked of every request before anything else of it is looked at. HTTP/1.0 may go without a Host: no browser
   * does.
   * @throws DomainError validation_failed for several hosts or what is none (RFC 9112 section 3.2), host_not_allowed
   */
  require(headers: Headers): void {
    const host = headers.get("host");
    if (host === null || host === this.known) return;
    // Bun refuses an HTTP/1.1 request without the line itself, and joins several lines by commas.
    const match = HOST.exec(host);
    if (match === null)
      throw invalid([{ path: "/Host", message: "must be given once, as a host with or without a port" }]);
    if (!this.allows(canonical(match[1] ?? match[2] ?? ""))) throw hostNotAllowed();
    this.known = host;
  }

  private allows(name: string): boolean {
    // No page gets an address for its name: that of its own site is another one.
    if (parseIp(name) !== null || this.isAny || this.named.includes(name)) return true;
    if (this.isLoopback) return name === "localhost" || name.endsWith(".localhost");
    return this.certified.some((pattern) => stands(pattern, name));
  }
}

/** 421 (RFC 9110 section 15.5.20). The name is not repeated: it is a stranger's. */
function hostNotAllowed(): DomainError {
  return new DomainError(
    "host_not_allowed",
    "The appliance does not answer to the name in Host. Use its IP address, or start it with --host-name NAME; behind a reverse proxy on the same machine that passes its own name, --host-name is needed as well.",
  );
}

const HOST_NOT_CHECKED = {
  code: "host_not_checked",
  message:
    "Requests are answered under any host name, so that a page whose name leads to this machine can ask it (DNS " +
    "rebinding): give --host-name NAME, or a TLS certificate with DNS names.",
};

/**
 * RFC 9110 section 7.2, but for the comma, which is in no host's name; an empty host is no http URI's (section 4.2.1).
 */
const HOST = /^(?:\[([\da-f:.]+)\]|((?:[\w.~!$&'()*+;=-]|%[\da-f]{2})+))(?::\d{0,5})?$/i;

/** In lower case, without the dot of the root (RFC 9525 section 6.3 compares names so). */
function canonical(name: string): string {
  return name.toLowerCase().replace(/\.$/, "");
}

/**
 * Whether a certificate's name stands for a host. A wildcard is a whole left-most label and stands for one label (RFC
 * 9525 section 6.3, RFC 6125 section 6.4.3).
 */
function stands(pattern: string, name: string): boolean {
  if (!pattern.startsWith("*.")) return pattern === name;
  const dot = name.indexOf(".");
  return dot > 0 && name.slice(dot) === pattern.slice(1);
}
