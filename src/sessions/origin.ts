// Cross-site request forgery check: whether a request authenticated by cookie comes from the appliance's own pages. The
// caller decides which requests need the check, and how they are rejected.

/** The three headers as received; null if absent. */
export interface OriginHeaders {
  origin: string | null;
  secFetchSite: string | null;
  host: string | null;
}

/**
 * False for a request with a cross-site `Sec-Fetch-Site` or `Origin`; passes without both, since scripts send neither.
 *
 * `Sec-Fetch-Site` (W3C Fetch Metadata): `same-origin` and `none` are accepted; `same-site`, `cross-site` and anything
 * else are foreign, since another host of the site may have another owner. Browsers send it only over HTTPS and to
 * localhost, so `Origin` decides on plain HTTP.
 *
 * `Origin` (RFC 6454 §7) is accepted if its host and port equal those of `Host` (RFC 9110 §7.2), ignoring case and
 * default ports: a proxy in front must preserve `Host`. `null` is foreign. The scheme only determines the default port
 * of both: behind a proxy that terminates TLS, the appliance does not know its own scheme.
 */
export function originAllowed(headers: OriginHeaders): boolean {
  const { origin, secFetchSite, host } = headers;
  if (secFetchSite !== null && secFetchSite !== "same-origin" && secFetchSite !== "none") return false;
  if (origin === null) return true;
  const url = parseOrigin(origin);
  if (url === null) return false;
  return host !== null && AUTHORITY.test(host) && parseUrl(`${url.protocol}//${host}`)?.host === url.host;
}

const AUTHORITY = /^[^\s/\\?#@]+$/;
const ORIGIN = /^https?:\/\/[^\s/\\?#@]+$/i;

/** Exactly scheme, host and port, normalized by URL: lower case, punycode, no default port. */
function parseOrigin(text: string): URL | null {
  return ORIGIN.test(text) ? parseUrl(text) : null;
}

function parseUrl(text: string): URL | null {
  return URL.parse(text);
}
