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

/** @param error errno, or its name as the runtime reports it */
export function errorKindOf(error: unknown): ErrorKind {
  return KINDS.find(([errno, name]) => error === errno || error === name)?.[2] ?? "Other";
}

const KINDS: ReadonlyArray<readonly [errno: number, name: string, kind: ErrorKind]> = [
  [EHOSTUNREACH, "EHOSTUNREACH", "HostUnreachable"],
  [EHOSTDOWN, "EHOSTDOWN", "HostUnreachable"],
  [ENETUNREACH, "ENETUNREACH", "NetworkUnreachable"],
  [ENETDOWN, "ENETDOWN", "NetworkUnreachable"],
  [EPERM, "EPERM", "NotPermitted"],
  [EACCES, "EACCES", "NotPermitted"],
  [EAGAIN, "EAGAIN", "Exhausted"],
  [ENFILE, "ENFILE", "Exhausted"],
  [EMFILE, "EMFILE", "Exhausted"],
  [EADDRNOTAVAIL, "EADDRNOTAVAIL", "Exhausted"],
  [ENOBUFS, "ENOBUFS", "Exhausted"],
];
