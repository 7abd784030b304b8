// Selection of the best ICMP echo method on this machine.

import type { Sockets } from "../kernel/sockets.ts";
import { ECHO_MEANS, type Echo, type EchoMeans } from "./echo.ts";
import { type EchoSocketParts, openEchoSocket } from "./echo-socket.ts";
import { type EchoToolParts, openEchoTool } from "./echo-tools.ts";

interface EchoParts extends Omit<EchoSocketParts, "sockets">, EchoToolParts {
  /** Null if the C library cannot be called. */
  readonly sockets: Sockets | null;
}

/** Returns the first method that works; null if none. */
export async function openEcho(
  version: 4 | 6,
  parts: EchoParts,
  means: readonly EchoMeans[] = ECHO_MEANS,
): Promise<Echo | null> {
  const { sockets } = parts;
  for (const each of means) {
    const echo =
      each === "Fping" || each === "Ping"
        ? await openEchoTool(version, each, parts)
        : sockets && openEchoSocket(version, each, { ...parts, sockets });
    if (echo) return echo;
  }
  return null;
}
