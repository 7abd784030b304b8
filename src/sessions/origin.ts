// Whether a request that changes something by cookie comes from the appliance's own pages (defence against cross-site
// request forgery). Must not decide which requests need the check, nor what the refusal looks like.

/** The three headers as received; null when absent. */
export interface OriginHeaders {
  origin: string | null;
  secFetchSite: string | null;
  host: string | null;
}

/**
 * False when the request carries a foreign `Sec-Fetch-Site` or a foreign `Origin`; a request with neither passes, since
 * scripts have none.
 *
 * `Sec-Fetch-Site` (W3C Fetch Metadata): `same-origin` and `none` are ours; `same-site`, `cross-site` and anything else
 * are foreign, for another host of the site is another owner's. Browsers send it over HTTPS and to localhost only, so
 * on plain HTTP `Origin` decides.
 *
 * `Origin` (RFC 6454 §7) is ours when its host and port are those of `Host` (RFC 9110 §7.2), case and default ports
 * aside: a proxy in front has to keep `Host`. `null` is foreign. Its scheme sets the default port of both and is not
 * compared otherwise: behind a proxy that ends TLS the appliance does not know its own.
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

/** Exactly scheme, host and port. URL makes them canonical: lower case, punycode, no default port. */
function parseOrigin(text: string): URL | null {
  return ORIGIN.test(text) ? parseUrl(text) : null;
}

function parseUrl(text: string): URL | null {
  return URL.parse(text);
}
