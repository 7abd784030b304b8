// More connections than descriptors from one address, with partial requests or kept alive after one: whether other
// clients can still load pages, and followers of changes continue.

import { connect, type Socket } from "node:net";
import { ROUND_ALWAYS_ADMITTED, ROUND_ALWAYS_ADMITTED_OF_CALLER } from "../../../src/http/admission.ts";
import { type Running, setUpBy, Workplace } from "../../../test/support/executable/executable.ts";
import { HANG_MS } from "../../../test/support/measure/limits.ts";
import { stopwatch } from "../../../test/support/measure/processor-time.ts";
import type { Finding } from "../part.ts";

const DESCRIPTORS = 1_024;
const CROWD = 1_400;
const PAGES = 50;
const AT_ONCE = ROUND_ALWAYS_ADMITTED_OF_CALLER;
const PAGE_MAX_MS = 1_000;
/** Below the number admitted at once. */
const ADMITTED = ROUND_ALWAYS_ADMITTED / 2;
/** All of 127.0.0.0/8 belongs to this machine. */
const [CROWDING, OTHER, FOLLOWER] = ["127.0.0.1", "127.0.0.2", "127.0.0.3"];

const PAGE = "GET / HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n";
const HEAD = "GET /api/version HTTP/1.1\r\nHost: localhost\r\n";

export async function unfinishedFindings(executable: string, directory: string): Promise<Finding[]> {
  const place = new Workplace(directory);
  try {
    const run = (args: readonly string[]) => place.run([...args, "--data", place.data], { command: [executable] });
    const { key } = await setUpBy(run, await place.passwordFile());
    const limited = ["sh", "-c", `ulimit -n ${DESCRIPTORS}; exec "$0" "$@"`, executable];
    const appliance = await place.serve([], { command: limited });
    const port = Number(new URL(appliance.url).port);
    const followed = `GET /api/v1/changes HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nAccept: text/event-stream\r\n\r\n`;
    const stream = await Connection.open(port, FOLLOWER, followed);
    // By then the reader thread is initialized.
    await appliance.withKey(key).post("tags", { name: "seen before the crowd", color: "Red" });
    await stream.came("seen before the crowd");
    const findings = [
      await beside(appliance, "partially sent requests", HEAD, CROWD),
      await beside(appliance, "partially sent requests after complete ones", `${HEAD}\r\n${HEAD}`, ADMITTED),
      await beside(appliance, "connections kept open after a request", `${HEAD}\r\n`, ADMITTED),
    ];
    const name = "seen after the crowd";
    await appliance.withKey(key).post("tags", { name, color: "Red" });
    const isFollowed = await stream.came(name);
    stream.close();
    return [
      ...findings,
      {
        claim: "followers of changes are not interrupted by such clients",
        held: isFollowed,
        figure: isFollowed ? "a change made afterwards came" : "the stream ended or nothing came",
      },
    ];
  } finally {
    await place.close();
  }
}

/** @param group connections opened at once: answered ones come in turns, or would be refused */
async function beside(appliance: Running, what: string, beginning: string, group: number): Promise<Finding> {
  const port = Number(new URL(appliance.url).port);
  const crowd: Connection[] = [];
  while (crowd.length < CROWD) {
    const count = Math.min(group, CROWD - crowd.length);
    const made = Array.from({ length: count }, () => Connection.open(port, CROWDING, beginning));
    const opened = await Promise.all(made);
    crowd.push(...opened);
    if (group < CROWD) await Promise.all(opened.map((each) => each.came("HTTP/1.1", PAGE_MAX_MS)));
  }
  const tookMs: number[] = [];
  let failed = 0;
  const open = async () => {
    const elapsedMs = stopwatch("first", [process.pid]);
    const page = await Connection.open(port, OTHER, `${PAGE}Connection: close\r\n\r\n`);
    const isOpened = await page.came("HTTP/1.1 200");
    tookMs.push(elapsedMs());
    if (!isOpened || (tookMs.at(-1) as number) > PAGE_MAX_MS) failed += 1;
    page.close();
  };
  // As many at once as are admitted regardless of other addresses.
  for (let n = 0; n < PAGES; n += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, open));
  for (const each of crowd) each.close();
  return {
    claim: `next to ${CROWD} ${what} from one address, with ${DESCRIPTORS} descriptors, ${PAGES} pages open for another one within ${PAGE_MAX_MS} ms each`,
    held: failed === 0,
    figure: `${failed} of ${PAGES} did not open, the slowest took ${Math.round(Math.max(...tookMs))} ms`,
  };
}

/** A socket from one of this machine's addresses that reads everything. */
class Connection {
  private readonly socket: Socket;
  private text = "";
  private look: () => void = () => {};

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (piece: Buffer) => {
      this.text += piece.toString("latin1");
      this.look();
    });
    socket.on("error", () => {});
    socket.on("close", () => this.look());
  }

  /** Sends its start once the connection is in the accept backlog, or fails. */
  static open(port: number, from: string, beginning: string): Promise<Connection> {
    const { promise, resolve } = Promise.withResolvers<Connection>();
    const socket = connect({ host: "127.0.0.1", port, localAddress: from });
    const connection = new Connection(socket);
    socket.once("connect", () => socket.write(beginning));
    for (const event of ["connect", "error"]) socket.once(event, () => resolve(connection));
    return promise;
  }

  /** Whether a text arrives in time, on a connection that is open until then. */
  async came(text: string, withinMs = HANG_MS): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), withinMs);
    this.look = () => {
      if (this.text.includes(text)) resolve(true);
      else if (this.socket.destroyed) resolve(false);
    };
    this.look();
    const has = await promise;
    clearTimeout(timer);
    return has;
  }

  close(): void {
    this.socket.destroy();
  }
}
