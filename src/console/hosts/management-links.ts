// Where a host is managed: SSH at its first address, and the URL that it or a person names. No other scheme is followed:
// what a device says of itself is not to be trusted.

import { hostText } from "../text/hosts.ts";

/** What is asked of the ports of a host for it. */
export const LISTENS_FILTER = { filter: "protocol = Tcp AND (number = 22 OR number = 80 OR number = 443)", limit: 3 };

/** Of a host: its addresses, at least the first, and its ports, at least those. */
export interface Manageable {
  readonly management_url: string | null;
  readonly ip_addresses: readonly { readonly ip_address: string }[];
  readonly ports: readonly { readonly number: number | null; readonly protocol: string }[];
}

/** Links with http, https and ssh alone. */
export function managementLinks(host: Manageable): { readonly href: string; readonly title: string }[] {
  const links: { href: string; title: string }[] = [];
  const [address] = host.ip_addresses;
  const listens = (number: number) => host.ports.some((port) => port.number === number && port.protocol === "Tcp");
  if (address !== undefined && listens(22))
    links.push({ href: `ssh://${hostPart(address.ip_address)}`, title: hostText.ssh });
  const url = host.management_url === null ? null : URL.parse(host.management_url);
  if (url !== null && isFollowed(url)) links.push({ href: url.href, title: hostText.management });
  else if (address !== undefined && (listens(443) || listens(80)))
    links.push({ href: `${listens(443) ? "https" : "http"}://${hostPart(address.ip_address)}/`, title: hostText.web });
  return links;
}

/**
 * Whoever follows `ssh://-oProxyCommand=…` runs what stands there, where the program for it takes a name that begins with
 * a hyphen for an option. A password in a link, or a name that looks like another host, is nobody's to send.
 */
function isFollowed({ protocol, hostname, username, password }: URL): boolean {
  if (protocol === "http:" || protocol === "https:") return username === "" && password === "";
  return (
    protocol === "ssh:" && password === "" && /^(\w[\w.-]*)?$/.test(username) && /^[\w[][\w.:\]-]*$/.test(hostname)
  );
}

/** IPv6 stands in brackets (RFC 3986 section 3.2.2). */
function hostPart(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}
