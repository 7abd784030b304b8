// Which host a request names, on the wire: one, and no more (RFC 9112 section 3.2).

import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { ensureExecutable, type Running, Workplace, withDeadline } from "../support/executable/executable.ts";

let place: Workplace;
let running: Running;
beforeAll(async () => {
  ensureExecutable();
  place = new Workplace();
  running = await place.serve();
});
afterAll(() => place.close());

/** The status and the body of an answer. */
async function ask(path: string, lines: readonly string[], version = "1.1"): Promise<{ status: number; body: string }> {
  const socket = connect({ host: "127.0.0.1", port: Number(new URL(running.url).port) });
  const pieces: Buffer[] = [];
  const text = new Promise<string>((resolve, reject) => {
    socket.on("data", (piece: Buffer) => pieces.push(piece));
    socket.on("close", () => resolve(Buffer.concat(pieces).toString()));
    socket.on("error", reject);
  });
  socket.end(`${[`GET ${path} HTTP/${version}`, ...lines, "Connection: close"].join("\r\n")}\r\n\r\n`);
  const whole = await withDeadline(text, "an answer", () => socket.destroy());
  return { status: Number(whole.split(" ")[1]), body: whole.slice(whole.indexOf("\r\n\r\n") + 4) };
}

const PATHS = ["/api/version", "/api/health", "/api/v1/hosts", "/api/nothing", "/docs", "/docs/", "/openapi.json", "/"];

test.each<[string, string[]]>([
  ["two", ["Host: a.example", "Host: b.example"]],
  ["the same one twice", ["Host: a.example", "Host: a.example"]],
  ["one in another spelling of the name", ["host: a.example", "HOST: b.example"]],
  ["one beside an empty one", ["Host: a.example", "Host:"]],
  ["an empty one beside one", ["Host:", "Host: a.example"]],
  ["two empty ones", ["Host:", "Host:"]],
  ["two in one line", ["Host: a.example, b.example"]],
  ["an empty one", ["Host:"]],
  ["one with a blank", ["Host: a b"]],
  ["one with a path", ["Host: a.example/api"]],
  ["one with a user", ["Host: user@a.example"]],
  ["one with two ports", ["Host: a.example:80:81"]],
  ["one with a port that is none", ["Host: a.example:http"]],
  ["an address without its brackets", ["Host: ::1"]],
])("%s is refused with 400, whatever is asked for", async (_what, lines) => {
  for (const path of PATHS) {
    const { status, body } = await ask(path, lines);
    expect([path, status]).toEqual([path, 400]);
    expect(JSON.parse(body)).toMatchObject({
      success: false,
      code: "validation_failed",
      params: { issues: [{ path: "/Host" }] },
    });
  }
});

test("none is refused with 400 by HTTP/1.1, and is what HTTP/1.0 may do", async () => {
  expect((await ask("/api/version", [])).status).toBe(400);
  expect((await ask("/api/version", [], "1.0")).status).toBe(200);
  expect((await ask("/api/version", ["Host: a.example", "Host: b.example"], "1.0")).status).toBe(400);
});

test.each([
  "localhost",
  "inventory.example:8080",
  "192.0.2.1",
  "192.0.2.1:80",
  "[::1]",
  "[2001:db8::1]:8443",
  "a_b.example",
  "x",
  "INVENTORY",
  "xn--bcher-kva.example.",
  "a.example:",
])("%s is one", async (host) => {
  expect((await ask("/api/version", [`Host: ${host}`])).status).toBe(200);
});
