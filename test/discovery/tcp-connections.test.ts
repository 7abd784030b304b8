// Kernel state of a real server's connections, read through the C library: those that wait for the rest of a request.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { resolve } from "node:path";
import { descriptorLimit, openDescriptors, openTcpConnections } from "../../src/discovery/kernel/tcp-connections.ts";
import { withDeadline } from "../support/executable/executable.ts";

let server: Bun.Server<unknown>;
const sockets: Socket[] = [];
beforeAll(() => {
  server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: async (request) => new Response(await request.text()) });
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await server.stop(true);
});

const HEAD = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n";

/** Sends a text, and waits for this many answers. @returns its port */
async function sent(text: string, answers: number): Promise<number> {
  const socket = connect({ host: "127.0.0.1", port: server.port as number, localAddress: "127.0.0.9" });
  sockets.push(socket);
  let came = "";
  const done = new Promise<void>((resolve) => {
    const look = () => (came.split("HTTP/1.1 200").length - 1 >= answers ? resolve() : undefined);
    socket.on("data", (piece) => {
      came += piece;
      look();
    });
    socket.on("connect", () => socket.write(text, () => look()));
  });
  await withDeadline(done, "the answers");
  return socket.localPort as number;
}

test("lists connections with peer address and answer state, and closes one like its peer", async () => {
  const connections = openTcpConnections();
  if (connections === null) throw new Error("the C library cannot be called");
  const begun = await sent(HEAD.slice(0, 20), 0);
  const half = await sent(`${HEAD}ab`, 0);
  const whole = await sent(`${HEAD}abcd`, 1);
  const look = () => connections.acceptedAt(server.port as number, openDescriptors(descriptorLimit()) ?? []);
  // Connections with little data are accepted slightly later.
  const seen = await withDeadline(
    (async () => {
      for (;;) {
        const all = look();
        if (all.length === 3) return all;
        await new Promise(setImmediate);
      }
    })(),
    "three accepted connections",
  );
  const byPort = new Map(seen.map((each) => [each.port, each]));
  expect(seen.map(({ address }) => address)).toEqual(["127.0.0.9", "127.0.0.9", "127.0.0.9"]);
  expect([begun, half, whole].map((port) => byPort.get(port)?.wasAnswered)).toEqual([false, false, true]);
  for (const { sentAgoMs, heardAgoMs } of seen) expect(Math.max(sentAgoMs, heardAgoMs)).toBeLessThan(60_000);
  const ended = Promise.withResolvers<void>();
  sockets[1]?.once("close", () => ended.resolve());
  connections.end(byPort.get(half) as (typeof seen)[number]);
  await withDeadline(ended.promise, "the end of that connection");
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false, true, false]);
  connections.close();
});

test("lists all descriptors of this process, even without a free one", () => {
  const limit = descriptorLimit();
  expect(openDescriptors(limit)?.length).toBe(readdirSync("/proc/self/fd").length);
  expect(limit).toBeGreaterThan(readdirSync("/proc/self/fd").length);
  const source = JSON.stringify(resolve(import.meta.dir, "../../src/discovery/kernel/tcp-connections.ts"));
  const script = `
    const { openSync } = await import("node:fs");
    const { descriptorLimit, openDescriptors } = await import(${source});
    const limit = descriptorLimit();
    try { for (;;) openSync("/dev/null"); } catch {}
    const all = openDescriptors(limit);
    console.log(all.length, Math.max(...all));`;
  const ran = Bun.spawnSync(["sh", "-c", 'ulimit -n 300; exec "$0" -e "$1"', process.execPath, script]);
  expect(ran.stdout.toString().trim()).toBe("300 299");
});
