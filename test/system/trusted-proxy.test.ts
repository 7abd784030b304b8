// Whom requests come from, on the wire: by socket and header lines as they arrive at the executable.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { ensureExecutable, type Running, Workplace, withDeadline } from "../support/executable/executable.ts";

/** All of 127.0.0.0/8 is this machine's: each of these can be a peer. */
const [PROXY, OTHER] = ["127.0.0.2", "127.0.0.3"];

let place: Workplace;
beforeAll(() => {
  ensureExecutable();
  place = new Workplace();
});
afterAll(() => place.close());

/** Sends a request from one of this machine's addresses. @returns the status */
async function ask(running: Running, from: string, lines: readonly string[], path = "/api/v1/tags"): Promise<number> {
  const { hostname, port } = new URL(running.url);
  const host = hostname.replaceAll(/[[\]]/g, "");
  const socket = connect({ host: host === "::" ? "127.0.0.1" : host, port: Number(port), localAddress: from });
  const pieces: Buffer[] = [];
  const text = new Promise<string>((resolve, reject) => {
    socket.on("data", (piece: Buffer) => pieces.push(piece));
    socket.on("close", () => resolve(Buffer.concat(pieces).toString()));
    socket.on("error", reject);
  });
  socket.end(`${[`GET ${path} HTTP/1.1`, "Host: a", ...lines, "Connection: close"].join("\r\n")}\r\n\r\n`);
  return Number((await withDeadline(text, "an answer", () => socket.destroy())).split(" ")[1]);
}

let asked = 0;
/** The address that the log has for such a request. */
async function sourceOf(running: Running, from: string, lines: readonly string[]): Promise<string | undefined> {
  asked += 1;
  const id = `asked-${asked}.`;
  expect(await ask(running, from, [`X-Request-Id: ${id}`, ...lines])).toBe(401);
  await running.logged(id);
  const line = running.log.split("\n").find((each) => each.includes(id)) ?? "";
  return /"source":"([^"]*)"/.exec(line)?.[1];
}

describe("an appliance that trusts a proxy", () => {
  let running: Running;
  beforeAll(async () => {
    running = await place.serve(["--trusted-proxy", `${PROXY},192.0.2.0/24`, "--log-format", "json"]);
  });

  test.each<[string, string[], string]>([
    ["the address that it names", ["X-Forwarded-For: 203.0.113.5"], "203.0.113.5"],
    ["the last of several", ["X-Forwarded-For: 198.51.100.1, 203.0.113.5"], "203.0.113.5"],
    ["the last line of several", ["X-Forwarded-For: 198.51.100.1", "x-forwarded-for: 203.0.113.5"], "203.0.113.5"],
    ["one before an empty line", ["X-Forwarded-For: 203.0.113.5", "X-Forwarded-For:"], "203.0.113.5"],
    ["one before proxies", ["X-Forwarded-For: 203.0.113.5", "X-Forwarded-For: 192.0.2.8, 192.0.2.9"], "203.0.113.5"],
    ["one with a port", ["X-Forwarded-For: [2001:db8::5]:443"], "2001:db8::5"],
    ["one at the end of a long line", [`X-Forwarded-For: ${"198.51.100.1, ".repeat(900)}203.0.113.5`], "203.0.113.5"],
    ["the peer for what is no address", ["X-Forwarded-For: 203.0.113.5, unknown"], PROXY],
    ["the peer for none", [], PROXY],
    ["the peer for a header of another standard", ["Forwarded: for=203.0.113.5"], PROXY],
  ])("takes for the caller %s", async (_what, lines, source) => {
    expect(await sourceOf(running, PROXY, lines)).toBe(source);
  });

  test("believes nobody else", async () => {
    expect(await sourceOf(running, OTHER, ["X-Forwarded-For: 203.0.113.5"])).toBe(OTHER);
    expect(await sourceOf(running, OTHER, [`X-Forwarded-For: 203.0.113.5, ${PROXY}`])).toBe(OTHER);
  });
});

test("an appliance that is told of no proxy believes none, and names peers of a dual-stack socket as IPv4", async () => {
  const other = new Workplace();
  try {
    const running = await other.serve(["--log-format", "json", "--plain-http"], { listen: "[::]:0" });
    expect(await sourceOf(running, PROXY, ["X-Forwarded-For: 203.0.113.5"])).toBe(PROXY);
  } finally {
    await other.close();
  }
});

test("a backup that is served believes its proxy as well", async () => {
  const other = new Workplace();
  try {
    await other.setUp();
    const file = other.path("copy.db");
    expect((await other.command("backup", file)).code).toBe(0);
    const running = await other.serve(["--read-only", file, "--log-format", "json"], {
      env: { NETLEDGER_TRUSTED_PROXY: PROXY },
    });
    expect(await sourceOf(running, PROXY, ["X-Forwarded-For: 203.0.113.5"])).toBe("203.0.113.5");
  } finally {
    await other.close();
  }
});
