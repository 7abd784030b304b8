// Rate-limited link on loopback: a relay of TCP connections whose responses share its rate; it reads from the server no
// faster than it forwards.

import { createServer, connect as open, type Server, type Socket } from "node:net";

export interface SlowLinkOptions {
  /** Loopback port of the server. */
  readonly to: number;
  /** Rate towards the client for all connections together; requests are small and not delayed. */
  readonly bytesPerSecond: number;
}

/** Forwarding unit: about a network card's burst of frames. */
const PIECE_BYTES = 16 * 1_024;
/** Wait for bytes after which the link counts as idle: unused capacity is lost. */
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
    server.on("connection", (client) => link.relay(client));
    return link;
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }

  private relay(client: Socket): void {
    const upstream = open(this.options.to, "127.0.0.1");
    const end = () => {
      for (const socket of [client, upstream]) {
        socket.destroy();
        this.sockets.delete(socket);
      }
    };
    for (const socket of [client, upstream]) {
      this.sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", end);
      socket.on("close", end);
    }
    client.pipe(upstream);
    this.relayBack(upstream, client).then(() => client.end(), end);
  }

  private async relayBack(upstream: Socket, client: Socket): Promise<void> {
    let waitingSince = performance.now();
    this.freeAt = Math.max(this.freeAt, waitingSince);
    for await (const chunk of upstream as AsyncIterable<Buffer>) {
      const arrivedAt = performance.now();
      // A shorter wait does not move `freeAt`, which compensates for late timers.
      if (arrivedAt - waitingSince > IDLE_MS) this.freeAt = Math.max(this.freeAt, arrivedAt);
      for (let from = 0; from < chunk.length; from += PIECE_BYTES) {
        const piece = chunk.subarray(from, from + PIECE_BYTES);
        this.freeAt += (piece.length * 1_000) / this.options.bytesPerSecond;
        const aheadMs = this.freeAt - performance.now();
        if (aheadMs > 0) await Bun.sleep(aheadMs);
        if (!client.write(piece)) await new Promise((resolve) => client.once("drain", resolve));
      }
      waitingSince = performance.now();
    }
  }
}
