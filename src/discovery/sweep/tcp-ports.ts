// Which TCP ports a sweep asks for, unless it is told otherwise.

/** What hosts, printers, cameras, switches and servers are commonly found by. */
export const DEFAULT_TCP_PORTS: readonly number[] = [
  21, 22, 23, 25, 53, 80, 135, 139, 143, 443, 445, 554, 587, 631, 993, 1433, 3306, 3389, 5432, 5900, 6379, 8006, 8080,
  8443, 9100, 27_017,
];

/** The ports that an address is asked for which does not answer otherwise. With more than these a silent network would take minutes. */
export function portsForSilent(tcpPorts: readonly number[]): number[] {
  const favorites = FAVORITES.filter((port) => tcpPorts.includes(port));
  const others = tcpPorts.filter((port) => !favorites.includes(port));
  return [...favorites, ...others].slice(0, MAX_PORTS_FOR_SILENT);
}

const MAX_PORTS_FOR_SILENT = 3;

/** What is let through by firewalls that drop echo requests: administration of servers, the web, Windows. */
const FAVORITES = [22, 443, 445, 80, 3389];
