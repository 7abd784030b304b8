// Kernel state of a real server's connections, read through the C library, including those awaiting the rest of a
// request.

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

/** Sends a text, and waits for this many responses. @returns the local port */
async function sendRequest(text: string, responseCount: number): Promise<number> {
  const socket = connect({ host: "127.0.0.1", port: server.port as number, localAddress: "127.0.0.9" });
  sockets.push(socket);
  let received = "";
  const done = new Promise<void>((resolve) => {
    const poll = () => (received.split("HTTP/1.1 200").length - 1 >= responseCount ? resolve() : undefined);
    socket.on("data", (piece) => {
      received += piece;
      poll();
    });
    socket.on("connect", () => socket.write(text, () => poll()));
  });
  await withDeadline(done, "the responses");
  return socket.localPort as number;
}

test("lists connections with peer address and response state, and closes one as its peer would", async () => {
  const connections = openTcpConnections();
  if (connections === null) throw new Error("the C library cannot be called");
  const started = await sendRequest(HEAD.slice(0, 20), 0);
  const partial = await sendRequest(`${HEAD}ab`, 0);
  const complete = await sendRequest(`${HEAD}abcd`, 1);
  const poll = () => connections.acceptedAt(server.port as number, openDescriptors(descriptorLimit()) ?? []);
  // Connections with little data are accepted slightly later.
  const accepted = await withDeadline(
    (async () => {
      for (;;) {
        const all = poll();
        if (all.length === 3) return all;
        await new Promise(setImmediate);
      }
    })(),
    "three accepted connections",
  );
  const byPort = new Map(accepted.map((connection) => [connection.port, connection]));
  expect(accepted.map(({ address }) => address)).toEqual(["127.0.0.9", "127.0.0.9", "127.0.0.9"]);
  expect([started, partial, complete].map((port) => byPort.get(port)?.hasSentData)).toEqual([false, false, true]);
  for (const { sentAgoMs, receivedAgoMs } of accepted) expect(Math.max(sentAgoMs, receivedAgoMs)).toBeLessThan(60_000);
  const closed = Promise.withResolvers<void>();
  sockets[1]?.once("close", () => closed.resolve());
  connections.end(byPort.get(partial) as (typeof accepted)[number]);
  await withDeadline(closed.promise, "the end of that connection");
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
  const child = Bun.spawnSync(["sh", "-c", 'ulimit -n 300; exec "$0" -e "$1"', process.execPath, script]);
  expect(child.stdout.toString().trim()).toBe("300 299");
});
