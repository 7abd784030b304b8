// Endpoint notation of bindings: `443/Tcp` on all addresses, `10.2.3.4:443/Tcp` on one, `[2001:db8::1]:443/Tcp` for
// IPv6 (RFC 3986), `10.2.3.4` alone for an entire address. Pure.

import { parseIp } from "../../base/ip.ts";
import type { ObjectNames } from "../resource.ts";

/** Port and address of a binding by name. */
export interface Endpoint {
  readonly port: string | null;
  readonly address: string | null;
}

/** Text of a binding by the names of its port and address, where present. */
export function endpointText(_binding: unknown, { port, ip_address: address }: ObjectNames): string {
  if (address === undefined) return String(port ?? "");
  if (port === undefined) return String(address);
  return String(address).includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}

/** Returns null for malformed text; does not check that the port and address exist. */
export function parseEndpoint(text: string): Endpoint | null {
  const bareAddress = parseIp(text);
  if (bareAddress !== null) return { port: null, address: bareAddress.text };
  const [, ipv6, ipv4, number, protocol] = ENDPOINT.exec(text) ?? [];
  if (number === undefined || protocol === undefined) return null;
  const port = `${Number(number)}/${protocol.charAt(0).toUpperCase()}${protocol.slice(1).toLowerCase()}`;
  if (ipv6 === undefined && ipv4 === undefined) return { port, address: null };
  const address = parseIp(ipv6 ?? ipv4 ?? "");
  return address === null ? null : { port, address: address.text };
}

const ENDPOINT = /^(?:(?:\[([^\]]+)\]|([\d.]+)):)?(\d{1,5})\/(tcp|udp)$/i;
