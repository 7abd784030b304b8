// Connection flood from one address, with more partial or kept-alive connections than there are file descriptors: other
// clients can still load pages, and change-feed followers keep up.

import { connect, type Socket } from "node:net";
import { ROUND_ALWAYS_ADMITTED, ROUND_ALWAYS_ADMITTED_OF_CALLER } from "../../../src/http/admission.ts";
import { type Running, Sandbox, setUpBy } from "../../../test/support/executable/executable.ts";
import { HANG_MS } from "../../../test/support/measure/limits.ts";
import { stopwatch } from "../../../test/support/measure/processor-time.ts";
import type { Finding } from "../part.ts";

const DESCRIPTORS = 1_024;
const CONNECTIONS = 1_400;
const PAGES = 50;
const CONCURRENT_PAGES = ROUND_ALWAYS_ADMITTED_OF_CALLER;
const PAGE_MAX_MS = 1_000;
/** Number of requests at once, below the number that is always admitted. */
const ADMITTED = ROUND_ALWAYS_ADMITTED / 2;
/** All of 127.0.0.0/8 belongs to this machine. */
const [FLOODER, OTHER, FOLLOWER] = ["127.0.0.1", "127.0.0.2", "127.0.0.3"];

const PAGE = "GET / HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n";
const HEAD = "GET /api/version HTTP/1.1\r\nHost: localhost\r\n";

export async function unfinishedFindings(executable: string, directory: string): Promise<Finding[]> {
  const sandbox = new Sandbox(directory);
  try {
    const run = (args: readonly string[]) => sandbox.run([...args, "--data", sandbox.data], { command: [executable] });
    const { key } = await setUpBy(run, await sandbox.passwordFile());
    const limited = ["sh", "-c", `ulimit -n ${DESCRIPTORS}; exec "$0" "$@"`, executable];
    const appliance = await sandbox.serve([], { command: limited });
    const port = Number(new URL(appliance.url).port);
    const followRequest = `GET /api/v1/changes HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nAccept: text/event-stream\r\n\r\n`;
    const stream = await Connection.open(port, FOLLOWER, followRequest);
    // Initializes the reader thread.
    await appliance.withKey(key).post("tags", { name: "created before the flood", color: "Red" });
    await stream.receives("created before the flood");
    const findings = [
      await loadPagesDuring(appliance, "partially sent requests", HEAD, CONNECTIONS),
      await loadPagesDuring(appliance, "partially sent requests after complete ones", `${HEAD}\r\n${HEAD}`, ADMITTED),
      await loadPagesDuring(appliance, "connections kept open after a request", `${HEAD}\r\n`, ADMITTED),
    ];
    const name = "created after the flood";
    await appliance.withKey(key).post("tags", { name, color: "Red" });
    const isFollowed = await stream.receives(name);
    stream.close();
    return [
      ...findings,
      {
        claim: "followers of changes are not interrupted by such clients",
        held: isFollowed,
        figure: isFollowed ? "a later change arrived" : "the stream ended or the change did not arrive",
      },
    ];
  } finally {
    await sandbox.close();
  }
}

/** Loads pages during a flood. @param group connections opened at once: more complete requests would be refused */
async function loadPagesDuring(
  appliance: Running,
  description: string,
  prefix: string,
  group: number,
): Promise<Finding> {
  const port = Number(new URL(appliance.url).port);
  const connections: Connection[] = [];
  while (connections.length < CONNECTIONS) {
    const count = Math.min(group, CONNECTIONS - connections.length);
    const opening = Array.from({ length: count }, () => Connection.open(port, FLOODER, prefix));
    const opened = await Promise.all(opening);
    connections.push(...opened);
    if (group < CONNECTIONS) await Promise.all(opened.map((socket) => socket.receives("HTTP/1.1", PAGE_MAX_MS)));
  }
  const tookMs: number[] = [];
  let failed = 0;
  const open = async () => {
    const elapsedMs = stopwatch("first", [process.pid]);
    const page = await Connection.open(port, OTHER, `${PAGE}Connection: close\r\n\r\n`);
    const isOpened = await page.receives("HTTP/1.1 200");
    tookMs.push(elapsedMs());
    if (!isOpened || (tookMs.at(-1) as number) > PAGE_MAX_MS) failed += 1;
    page.close();
  };
  // As many at once as are admitted regardless of other addresses.
  for (let n = 0; n < PAGES; n += CONCURRENT_PAGES) await Promise.all(Array.from({ length: CONCURRENT_PAGES }, open));
  for (const connection of connections) connection.close();
  return {
    claim: `next to ${CONNECTIONS} ${description} from one address, with ${DESCRIPTORS} descriptors, ${PAGES} pages open for another address within ${PAGE_MAX_MS} ms each`,
    held: failed === 0,
    figure: `${failed} of ${PAGES} did not open, the slowest took ${Math.round(Math.max(...tookMs))} ms`,
  };
}

/** Socket that connects from one of this machine's addresses and reads everything. */
class Connection {
  private readonly socket: Socket;
  private text = "";
  private check: () => void = () => {};

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (piece: Buffer) => {
      this.text += piece.toString("latin1");
      this.check();
    });
    socket.on("error", () => {});
    socket.on("close", () => this.check());
  }

  /** Opens a connection. Resolves once it is in the accept backlog and the first bytes are sent, or after an error. */
  static open(port: number, from: string, prefix: string): Promise<Connection> {
    const { promise, resolve } = Promise.withResolvers<Connection>();
    const socket = connect({ host: "127.0.0.1", port, localAddress: from });
    const connection = new Connection(socket);
    socket.once("connect", () => socket.write(prefix));
    for (const event of ["connect", "error"]) socket.once(event, () => resolve(connection));
    return promise;
  }

  /** Waits for a string. @returns whether it arrives in time, before the connection closes */
  async receives(text: string, withinMs = HANG_MS): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), withinMs);
    this.check = () => {
      if (this.text.includes(text)) resolve(true);
      else if (this.socket.destroyed) resolve(false);
    };
    this.check();
    const isReceived = await promise;
    clearTimeout(timer);
    return isReceived;
  }

  close(): void {
    this.socket.destroy();
  }
}
