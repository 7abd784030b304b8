// What can go wrong with a probe, in words that a scan's errors are counted by. Pure.

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
 * NoRoute: this machine knows no way there. HostUnreachable, NetworkUnreachable, PortUnreachable: a router or the own kernel says so, which tells
 * nothing about the address. NotPermitted: a rule of this machine forbids it. Exhausted: this machine had no descriptor, local port or buffer
 * left. Intercepted: every port is open, as no host has them: something on the way accepts whatever is sent there. NameServer: reverse DNS was not answered, or by a failure. Tool: fping or ping failed. Other: an errno of no use to anybody.
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
