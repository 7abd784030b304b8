// Probe error kinds counted by a scan. Pure.

import {
  EACCES,
  EADDRNOTAVAIL,
  EAGAIN,
  EHOSTDOWN,
  EHOSTUNREACH,
  EMFILE,
  ENETDOWN,
  ENETUNREACH,
  ENFILE,
  ENOBUFS,
  EPERM,
} from "../kernel/sockets.ts";

/**
 * NoRoute: this machine has no route. HostUnreachable, NetworkUnreachable, PortUnreachable: reported by a router or the
 * local kernel; no evidence about the address. NotPermitted: by a rule of this machine. Exhausted: no descriptor, local
 * port or buffer left. Intercepted: every port is open, so a middlebox accepts all. NameServer: reverse DNS failed.
 * Tool: fping or ping failed. Other: any other errno.
 */
export type ErrorKind =
  | "NoRoute"
  | "HostUnreachable"
  | "NetworkUnreachable"
  | "PortUnreachable"
  | "NotPermitted"
  | "Exhausted"
  | "Intercepted"
  | "NameServer"
  | "Tool"
  | "Other";

export function errorKindOf(errno: number): ErrorKind {
  return KINDS.get(errno) ?? "Other";
}

const KINDS: ReadonlyMap<number, ErrorKind> = new Map([
  [EHOSTUNREACH, "HostUnreachable"],
  [EHOSTDOWN, "HostUnreachable"],
  [ENETUNREACH, "NetworkUnreachable"],
  [ENETDOWN, "NetworkUnreachable"],
  [EPERM, "NotPermitted"],
  [EACCES, "NotPermitted"],
  [EAGAIN, "Exhausted"],
  [ENFILE, "Exhausted"],
  [EMFILE, "Exhausted"],
  [EADDRNOTAVAIL, "Exhausted"],
  [ENOBUFS, "Exhausted"],
]);
