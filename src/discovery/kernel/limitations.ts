// Probes for kernel features that this process may not use, and their fallbacks. Reported in the log, to monitors and
// in scans. Never exits the process: the appliance works without them.

import { grantsPrivilegesToAll } from "./executable-privileges.ts";
import { KernelRefused, openLibc } from "./libc.ts";
import { openNetlink } from "./netlink-socket.ts";

const LIMITATION_CODES = ["native_calls_refused", "netlink_refused", "executable_gives_rights"] as const;
type LimitationCode = (typeof LIMITATION_CODES)[number];

export interface Limitation {
  readonly code: LimitationCode;
  /** User-readable: the limitation, possible causes, and the fallback. */
  readonly message: string;
}

/** Probes to run; tests may disable some. */
interface LimitationProbes {
  /** True if fping or ping works; called only if this process itself cannot send echo requests. */
  readonly hasEchoTool: () => Promise<boolean>;
  readonly callLibc?: () => void;
  readonly queryNetlink?: () => void;
}

/** Reports privileges that this executable grants to every user. Empty if none. */
export function limitationsOfExecutable(path = process.execPath, grantsRights = grantsPrivilegesToAll): Limitation[] {
  return grantsRights(path) ? [{ code: "executable_gives_rights", message: withRights(path) }] : [];
}

function withRights(path: string): string {
  return (
    `${path} has file capabilities, or the setuid or setgid bit, and everyone on this machine may execute it: with ` +
    "BUN_BE_BUN set it runs any code with these rights. Remove them (setcap -r), and let the service manager give " +
    "CAP_NET_RAW to the service alone (systemd: AmbientCapabilities=CAP_NET_RAW)."
  );
}

/** Empty if nothing is restricted. */
export async function findLimitations(probes: LimitationProbes): Promise<Limitation[]> {
  const { callLibc = tryLibc, queryNetlink = tryNetlink, hasEchoTool } = probes;
  if (isRefused(callLibc)) return [{ code: "native_calls_refused", message: withoutNativeCalls(await hasEchoTool()) }];
  if (isRefused(queryNetlink)) return [{ code: "netlink_refused", message: WITHOUT_NETLINK }];
  return [];
}

const FROM_PROC =
  "Routes, neighbors and own addresses come from /proc, without IPv6 neighbors and without IPv4 addresses of " +
  "interfaces that are down.";

function withoutNativeCalls(hasEchoTool: boolean): string {
  const scanMethods = hasEchoTool
    ? "Scans use fping or ping, and plain TCP"
    : "Scans use plain TCP only, since neither fping nor ping works here";
  return (
    "This process may not generate code at run time (MemoryDenyWriteExecute, a hardened kernel, or no JIT): it " +
    "is slower, and cannot call the C library. " +
    `${scanMethods}, where a refused port does not count as an answer. ${FROM_PROC} ` +
    "How many unfinished requests one address may hold is not bounded."
  );
}

const WITHOUT_NETLINK =
  "This process may not open netlink sockets (RestrictAddressFamilies without AF_NETLINK, or a hardened kernel). " +
  FROM_PROC;

function isRefused(attempt: () => void): boolean {
  try {
    attempt();
    return false;
  } catch (error) {
    return error instanceof KernelRefused;
  }
}

function tryLibc(): void {
  openLibc({ getpid: { args: [], returns: "i32" } }, "to call it").close();
}

function tryNetlink(): void {
  openNetlink("interfaces").close();
}
