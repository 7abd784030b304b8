// Management links of a host. Only http, https and ssh, since data from devices is not trusted.

/** Includes at least the host's first address and its TCP ports 22, 80 and 443. */
export interface Manageable {
  readonly management_url: string | null;
  readonly ip_addresses: readonly { readonly ip_address: string }[];
  readonly ports: readonly { readonly number: number | null; readonly protocol: string }[];
}

/** Web, SSH and management links of a host. */
export function managementLinks(host: Manageable): { readonly href: string; readonly title: string }[] {
  const links: { href: string; title: string }[] = [];
  const [address] = host.ip_addresses;
  const isListening = (number: number) => host.ports.some((port) => port.number === number && port.protocol === "Tcp");
  if (address !== undefined && isListening(22))
    links.push({ href: `ssh://${hostPart(address.ip_address)}`, title: "SSH" });
  const url = host.management_url === null ? null : URL.parse(host.management_url);
  if (url !== null && isSafe(url)) links.push({ href: url.href, title: "Management" });
  else if (address !== undefined && (isListening(443) || isListening(80)))
    links.push({ href: `${isListening(443) ? "https" : "http"}://${hostPart(address.ip_address)}/`, title: "Web" });
  return links;
}

/** Rejects `ssh://-oProxyCommand=…`, which an SSH client may run as an option, passwords, and imitated host names. */
function isSafe({ protocol, hostname, username, password }: URL): boolean {
  if (protocol === "http:" || protocol === "https:") return username === "" && password === "";
  return (
    protocol === "ssh:" && password === "" && /^(\w[\w.-]*)?$/.test(username) && /^[\w[][\w.:\]-]*$/.test(hostname)
  );
}

/** Host part of a URL, with IPv6 in brackets (RFC 3986 section 3.2.2). */
function hostPart(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}
