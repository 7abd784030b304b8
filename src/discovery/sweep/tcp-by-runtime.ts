// TCP probes through the runtime's sockets, for processes that may not call libc. Never reports "refused": the runtime
// does so for unreachable hosts too.

import { connect, type Socket } from "node:net";
import type { Ip } from "../../base/ip.ts";
import type { Timers } from "../../base/timers.ts";
import { errorKindOf } from "./error-kinds.ts";
import type { TcpConnector, TcpOutcome } from "./tcp-prober.ts";

export class RuntimeTcpProber implements TcpConnector {
  private readonly timers: Timers;
  private readonly open = new Set<(reason: unknown) => void>();
  private ended: { reason: unknown } | null = null;

  constructor(timers: Timers) {
    this.timers = timers;
  }

  async connect(ip: Ip, port: number, waitMs: number): Promise<TcpOutcome> {
    if (this.ended) throw this.ended.reason;
    return await new Promise((resolve, reject) => {
      let socket: Socket | null = null;
      const settle = (action: () => void): void => {
        if (!this.open.delete(refuse)) return;
        cancelTimer();
        socket?.destroy();
        action();
      };
      const refuse = (reason: unknown): void => settle(() => reject(reason));
      const conclude = (outcome: TcpOutcome): void => settle(() => resolve(outcome));
      const cancelTimer = this.timers.after(waitMs, () => conclude({ kind: "Silent" }));
      this.open.add(refuse);
      try {
        socket = connect({ host: ip.text, port });
        // Late errors are ignored.
        socket.on("error", (error) => conclude(outcomeOf(error)));
        socket.on("connect", () => conclude({ kind: isSelfConnection(socket, port) ? "Refused" : "Open" }));
      } catch (error) {
        conclude(outcomeOf(error));
      }
    });
  }

  end(reason: unknown): void {
    this.ended ??= { reason };
    for (const refuse of [...this.open]) refuse(reason);
  }
}

/** A connection to a free local port may get that port as its source and connect to itself. */
function isSelfConnection(socket: Socket | null, port: number): boolean {
  return socket !== null && socket.localPort === port && socket.localAddress === socket.remoteAddress;
}

function outcomeOf(error: unknown): TcpOutcome {
  const code = error instanceof Error && "code" in error ? error.code : null;
  if (code === "ECONNREFUSED") return { kind: "Unproven" };
  if (code === "ETIMEDOUT") return { kind: "Silent" };
  return { kind: "Failed", error: errorKindOf(code) };
}
