// Default TCP ports of a sweep.

/** Common on hosts, printers, cameras, switches and servers. */
export const DEFAULT_TCP_PORTS: readonly number[] = [
  21, 22, 23, 25, 53, 80, 135, 139, 143, 443, 445, 554, 587, 631, 993, 1433, 3306, 3389, 5432, 5900, 6379, 8006, 8080,
  8443, 9100, 27_017,
];

/** Ports for addresses that do not respond otherwise. With more, a silent network would take minutes. */
export function portsForSilent(tcpPorts: readonly number[]): number[] {
  const preferred = PREFERRED_PORTS.filter((port) => tcpPorts.includes(port));
  const others = tcpPorts.filter((port) => !preferred.includes(port));
  return [...preferred, ...others].slice(0, MAX_PORTS_FOR_SILENT);
}

const MAX_PORTS_FOR_SILENT = 3;

/** Ports open through firewalls that drop echo requests: server administration, web, Windows. */
const PREFERRED_PORTS = [22, 443, 445, 80, 3389];
