// The kinds of probe errors that a scan counts. Pure.

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
 * NoRoute: none on this machine. HostUnreachable, NetworkUnreachable, PortUnreachable: said by a router or our kernel;
 * no evidence on the address. NotPermitted: by a rule of this machine. Exhausted: no descriptor, local port or buffer
 * left. Intercepted: every port is open, so something on the way accepts all. NameServer: reverse DNS failed. Tool:
 * fping or ping failed. Other: any other errno.
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
