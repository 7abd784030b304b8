// Rate-limited link on loopback: a relay of TCP connections. Answers share its rate, and it reads no faster from the
// server than it forwards.

import { createServer, connect as open, type Server, type Socket } from "node:net";

export interface SlowLinkOptions {
  /** Loopback port of the server. */
  readonly to: number;
  /** For all connections together, towards the client; requests are small and not delayed. */
  readonly bytesPerSecond: number;
}

/** Forwarding unit, about a burst of frames of a network card. */
const PIECE_BYTES = 16 * 1_024;
/** After a longer wait for bytes the link counts as idle: that capacity is lost. */
const IDLE_MS = 1;

export class SlowLink {
  readonly port: number;
  private readonly server: Server;
  private readonly options: SlowLinkOptions;
  private readonly sockets = new Set<Socket>();
  /** Time at which the link has forwarded all its input. */
  private freeAt = 0;

  private constructor(server: Server, port: number, options: SlowLinkOptions) {
    this.server = server;
    this.port = port;
    this.options = options;
  }

  static async open(options: SlowLinkOptions): Promise<SlowLink> {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(0, "127.0.0.1", resolve);
    });
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("the relay has no port");
    const link = new SlowLink(server, address.port, options);
    server.on("connection", (near) => link.carry(near));
    return link;
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }

  private carry(near: Socket): void {
    const far = open(this.options.to, "127.0.0.1");
    const end = () => {
      for (const socket of [near, far]) {
        socket.destroy();
        this.sockets.delete(socket);
      }
    };
    for (const socket of [near, far]) {
      this.sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", end);
      socket.on("close", end);
    }
    near.pipe(far);
    this.carryBack(far, near).then(() => near.end(), end);
  }

  private async carryBack(far: Socket, near: Socket): Promise<void> {
    let askedAt = performance.now();
    this.freeAt = Math.max(this.freeAt, askedAt);
    for await (const chunk of far as AsyncIterable<Buffer>) {
      const cameAt = performance.now();
      // Makes up for late timers.
      if (cameAt - askedAt > IDLE_MS) this.freeAt = Math.max(this.freeAt, cameAt);
      for (let from = 0; from < chunk.length; from += PIECE_BYTES) {
        const piece = chunk.subarray(from, from + PIECE_BYTES);
        this.freeAt += (piece.length * 1_000) / this.options.bytesPerSecond;
        const aheadMs = this.freeAt - performance.now();
        if (aheadMs > 0) await Bun.sleep(aheadMs);
        if (!near.write(piece)) await new Promise((resolve) => near.once("drain", resolve));
      }
      askedAt = performance.now();
    }
  }
}
