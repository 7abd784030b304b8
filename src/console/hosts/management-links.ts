// Management links of a host: SSH to its first address, and its discovered or manual URL. Must not link to other
// schemes: data from devices is not trusted.

/** Ports that the links depend on. */
export const LISTENS_FILTER = { filter: "protocol = Tcp AND (number = 22 OR number = 80 OR number = 443)", limit: 3 };

/** Includes at least the host's first address and the ports of `LISTENS_FILTER`. */
export interface Manageable {
  readonly management_url: string | null;
  readonly ip_addresses: readonly { readonly ip_address: string }[];
  readonly ports: readonly { readonly number: number | null; readonly protocol: string }[];
}

/** Links with http, https or ssh only. */
export function managementLinks(host: Manageable): { readonly href: string; readonly title: string }[] {
  const links: { href: string; title: string }[] = [];
  const [address] = host.ip_addresses;
  const listens = (number: number) => host.ports.some((port) => port.number === number && port.protocol === "Tcp");
  if (address !== undefined && listens(22)) links.push({ href: `ssh://${hostPart(address.ip_address)}`, title: "SSH" });
  const url = host.management_url === null ? null : URL.parse(host.management_url);
  if (url !== null && isFollowed(url)) links.push({ href: url.href, title: "Management" });
  else if (address !== undefined && (listens(443) || listens(80)))
    links.push({ href: `${listens(443) ? "https" : "http"}://${hostPart(address.ip_address)}/`, title: "Web" });
  return links;
}

/**
 * Rejects `ssh://-oProxyCommand=…`: an SSH client that reads a host name with a leading hyphen as an option runs that
 * command. Also rejects passwords in a URL, and user names that imitate a host name.
 */
function isFollowed({ protocol, hostname, username, password }: URL): boolean {
  if (protocol === "http:" || protocol === "https:") return username === "" && password === "";
  return (
    protocol === "ssh:" && password === "" && /^(\w[\w.-]*)?$/.test(username) && /^[\w[][\w.:\]-]*$/.test(hostname)
  );
}

/** IPv6 in brackets (RFC 3986 section 3.2.2). */
function hostPart(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}
